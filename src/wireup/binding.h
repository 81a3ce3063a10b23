/* binding.h - the processors of a whole plan: -bind-to, -map-by and the host file's binding=, laid
 * on every node.
 *
 * What each node does with it on its own hardware is topo/plan_bind.h.  What other machines have is
 * not known here unless they have told (`far`); until then each is taken for one like this.
 */
#ifndef WIREUP_WIREUP_BINDING_H
#define WIREUP_WIREUP_BINDING_H

#include <stdbool.h>

#include "base/err.h"
#include "core/job_map.h"
#include "topo/plan_bind.h"
#include "wireup/hosts.h"
#include "wireup/mapping.h"
#include "wireup/rankfile.h"

struct binding {
    struct bind_spec spec;
    struct bind_order order;
    struct bind_machine machine;
    const struct rankfile *ranks; /* its slots win over all else; or NULL */
    const char *here;             /* the node that is this machine, when others are not; or NULL */
    bool remote;                  /* there are others */
    /* What another machine has told of itself; returns NULL: nothing.  May be NULL. */
    struct bind_machine *(*far)(void *arg, const char *node);
    void *arg;
};

/* BINDING_BAD: what the options say; BINDING_CANNOT: what this machine has. */
enum { BINDING_BAD = 1, BINDING_CANNOT };

/* From the texts of the options. */
int binding_init(struct binding *b, const char *bind_to, const struct mapping_spec *map,
                 struct errmsg *err);

/* Ranks of a node for -map-by ppr:N:OBJECT. */
int binding_ppr(struct binding *b, struct arena *a, const struct mapping_spec *map,
                const char *node, uint32_t *per_node_p, struct errmsg *err);

/* Fills plan->nodes[].binding.  node_hosts: the list entry of each node. */
int binding_nodes(struct binding *b, struct job_map *plan, const struct host *const *node_hosts,
                  struct errmsg *err);

/* On which object of a kind each rank is, by what the nodes' bindings (or the mapping) say; in the
 * plan's arena.  Before ranks are numbered anew. */
int binding_places(struct binding *b, struct job_map *plan, enum topo_kind kind,
                   const uint32_t **places_p, struct errmsg *err);

/* Ranks have been numbered anew: turns, as of ranking_apply(), goes into the nodes' bindings. */
int binding_turns(struct job_map *plan, const uint32_t *turns);

/* Fills plan->procs[].cpus and .binding.  A node that is another machine and has not told what it
 * has is taken for one like this; what is not to be had here may be there: it finds out itself. */
int binding_apply(struct binding *b, struct job_map *plan, struct errmsg *err);

#endif
