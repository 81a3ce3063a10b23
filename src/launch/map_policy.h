/* map_policy.h - what -map-by, -rank-by and -bind-to say together: parsed, checked against each
 * other, and applied to a job map.  The command line and spawned jobs come through here alike.
 */
#ifndef WIREUP_LAUNCH_MAP_POLICY_H
#define WIREUP_LAUNCH_MAP_POLICY_H

#include "launch/binding.h"
#include "launch/mapping.h"
#include "launch/ranking.h"

/* The texts of the options; NULL: not given. */
struct map_policy_words {
    const char *map_by, *rank_by, *bind_to;
    enum mapping_over over; /* overrides that of map_by, unless it is OVER_UNSAID */
};

struct map_policy {
    struct mapping_spec map;
    struct ranking_spec ranking;
    struct binding binding;
    struct arena *arena; /* for the hardware of machines */
};

/* Results of all: 0; MAP_POLICY_BAD: the words are wrong; MAP_POLICY_CANNOT: the hardware cannot do
 * it; both with the sentence; -errno. */
enum { MAP_POLICY_BAD = 1, MAP_POLICY_CANNOT };

int map_policy_parse(struct map_policy *p, const struct map_policy_words *w, struct arena *a,
                     struct errmsg *err);

/* Whether the number or the order of ranks depends on the hardware of each node. */
bool map_policy_needs_hardware(const struct map_policy *p);

/* What binds: -bind-to, or :pe=N of the mapping in its words; NULL: nothing. */
const char *map_policy_bound(const struct map_policy *p, const char *bind_to);

/* What the policy says of a mapping, how and over what: the other members are the caller's. */
void map_policy_request(struct map_policy *p, struct mapping_request *req);

/* plan: the result of the mapping.  Its ranks are numbered, and bound to processors. */
int map_policy_apply(struct map_policy *p, struct job_map *plan,
                     const struct host *const *node_hosts, struct errmsg *err);

#endif
