/* binding.h - the processors of a whole plan: -bind-to, -map-by and the host file's binding=,
 * applied to every node.
 *
 * Each node applies it to its own hardware by topo/plan_bind.h.  The hardware of other
 * machines is known here only once they have reported it (`remote_machine`); until then each is
 * assumed to be like this one.
 */
#ifndef WIREUP_LAUNCH_BINDING_H
#define WIREUP_LAUNCH_BINDING_H

#include <stdbool.h>

#include "base/err.h"
#include "core/job_map.h"
#include "topo/plan_bind.h"
#include "launch/hosts.h"
#include "launch/mapping.h"
#include "launch/rankfile.h"

/* The machines of a job, as far as they are known. */
struct binding_machines {
    struct bind_machine own;
    const char *here; /* the node that is this machine if others take part; or NULL */
    bool remote;      /* other machines take part */
    /* The hardware that another machine has reported; returns NULL: not reported.  May be NULL. */
    struct bind_machine *(*remote_machine)(void *arg, const char *node);
    void *arg;
};

/* How the programs of one placement are bound. */
struct binding {
    struct bind_spec spec;
    struct bind_order order;
    uint32_t placement;           /* its number in the plan */
    const struct rankfile *ranks; /* their slot= overrides all else; or NULL */
    struct binding_machines *machines;
};

/* BINDING_BAD: the options are wrong; BINDING_CANNOT: this machine's hardware cannot do it. */
enum { BINDING_BAD = 1, BINDING_CANNOT };

/* From the values of the options. */
int binding_init(struct binding *b, const char *bind_to, const struct mapping_spec *map,
                 struct binding_machines *machines, struct errmsg *err);

/* The number of ranks of a node for -map-by ppr:N:OBJECT. */
int binding_ppr(struct binding *b, struct arena *a, const struct mapping_spec *map,
                const char *node, uint32_t *per_node_p, struct errmsg *err);

/* The bindings of all placements on all nodes, none yet.  0; BINDING_CANNOT with the sentence;
 * -ENOMEM. */
int binding_begin(struct job_map *plan, struct errmsg *err);

/* Fills plan->nodes[].bindings of this placement.  node_hosts: the list entry of each node. */
int binding_nodes(struct binding *b, struct job_map *plan, const struct host *const *node_hosts,
                  struct errmsg *err);

/* places, by rank: for those of this placement the object of a kind on which each is, by the nodes'
 * bindings (or the mapping).  Before ranks are renumbered. */
int binding_places(struct binding *b, struct job_map *plan, enum topo_kind kind, uint32_t *places,
                   struct errmsg *err);

/* Ranks have been renumbered: turns, from ranking_apply(), goes into the nodes' bindings. */
int binding_turns(struct job_map *plan, const uint32_t *turns);

/* Fills plan->procs[].cpus and .binding.  Another machine that has not reported its hardware is
 * assumed to be like this one; a binding that is impossible here may be possible there: that
 * machine checks it. */
int binding_apply(struct binding_machines *m, struct job_map *plan, struct errmsg *err);

#endif
