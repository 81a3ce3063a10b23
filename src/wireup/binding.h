/* binding.h - the processors of a whole plan: -bind-to, -map-by and the host file's binding=, laid
 * on every node.
 *
 * What each node does with it on its own hardware is topo/plan_bind.h.
 */
#ifndef WIREUP_WIREUP_BINDING_H
#define WIREUP_WIREUP_BINDING_H

#include <stdbool.h>

#include "base/err.h"
#include "core/plan.h"
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
};

/* BINDING_BAD: what the options say; BINDING_CANNOT: what this machine has. */
enum { BINDING_BAD = 1, BINDING_CANNOT };

/* From the texts of the options. */
int binding_init(struct binding *b, const char *bind_to, const struct mapping_spec *map,
                 struct errmsg *err);

/* Ranks of a node for -map-by ppr:N:OBJECT. */
int binding_ppr(struct binding *b, struct arena *a, const struct mapping_spec *map,
                uint32_t *per_node_p, struct errmsg *err);

/* Fills plan->nodes[].binding and, as if each node were this machine, plan->procs[].cpus and
 * .binding.  A node that is another machine may have what this one has not: it finds out itself.
 * node_hosts: the list entry of each node. */
int binding_apply(struct binding *b, struct plan *plan, const struct host *const *node_hosts,
                  struct errmsg *err);

#endif
