/* map_policy.h - what -map-by, -rank-by and -bind-to say together: parsed, checked against each
 * other, and applied to a job map.  The command line and spawned jobs come through here alike.
 *
 * Each program of a job may have words of its own.  Programs with the same words have one policy,
 * whose number is their placement in the job map: they are mapped as one, each going on where the
 * one before has stopped.
 */
#ifndef WIREUP_LAUNCH_MAP_POLICY_H
#define WIREUP_LAUNCH_MAP_POLICY_H

#include "launch/binding.h"
#include "launch/mapping.h"
#include "launch/placement_words.h"
#include "launch/ranking.h"

/* The texts of the options; NULL: not given. */
struct map_policy_words {
    const char *map_by, *rank_by, *bind_to;
    enum mapping_over over; /* overrides that of map_by, unless it is OVER_UNSAID */
};

struct map_policy {
    struct map_policy_words words;
    struct mapping_spec map;
    struct ranking_spec ranking;
    struct binding binding;
    struct arena *arena; /* for the hardware of machines */
};

struct map_policies {
    struct map_policy *items; /* by placement */
    uint32_t count, napps;
    uint32_t *of_app; /* the placement of each program */
    struct binding_machines machines;
    struct arena *arena;
};

/* Results of all: 0; MAP_POLICY_BAD: the words are wrong; MAP_POLICY_CANNOT: the hardware cannot do
 * it; both with the sentence; -errno. */
enum { MAP_POLICY_BAD = 1, MAP_POLICY_CANNOT };

/* words: of each program.  p->machines is left as it is; p must stay where it is. */
int map_policies_parse(struct map_policies *p, const struct map_policy_words *words, uint32_t napps,
                       struct arena *a, struct errmsg *err);

static inline struct map_policy *map_policy_of(const struct map_policies *p, uint32_t app)
{
    return &p->items[p->of_app[app]];
}

/* Whether the number or the order of ranks depends on the hardware of each node. */
bool map_policies_need_hardware(const struct map_policies *p);

/* Sets map_by, rank_by and bind_to (or :pe=N of the mapping, in its words) of *w.  0 or -ENOMEM. */
int map_policies_words(const struct map_policies *p, struct placement_words *w);

/* What the policies say of a mapping: the ways, of which each block (as many as there are programs)
 * gets its own.  The other members are the caller's.  0 or -ENOMEM. */
int map_policies_request(struct map_policies *p, struct mapping_block *blocks,
                         struct mapping_request *req);

/* The programs of the plan get their placements; before the mapping. */
void map_policies_note(const struct map_policies *p, struct job_map *plan);

/* plan: the result of the mapping.  Its ranks are numbered, and bound to processors. */
int map_policies_apply(struct map_policies *p, struct job_map *plan,
                       const struct host *const *node_hosts, struct errmsg *err);

#endif
