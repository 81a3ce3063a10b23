/* binding.h - the processors of a whole plan: -bind-to, -map-by and the host file's binding=, laid
 * on every node.
 *
 * Looks at the hardware (topo/view.h) only when an object is named.  All nodes are this machine
 * for now, so they share one view.
 */
#ifndef WIREUP_WIREUP_BINDING_H
#define WIREUP_WIREUP_BINDING_H

#include "base/err.h"
#include "core/plan.h"
#include "topo/bind.h"
#include "wireup/hosts.h"
#include "wireup/mapping.h"

struct binding {
    struct bind_spec spec;
    struct bind_order order;
    struct topo_view view;
    struct cpus allowed;
    bool looked; /* view and allowed are filled */
};

/* BINDING_BAD: what the options say; BINDING_CANNOT: what this machine has. */
enum { BINDING_BAD = 1, BINDING_CANNOT };

/* From the texts of the options. */
int binding_init(struct binding *b, const char *bind_to, const struct mapping_spec *map,
                 struct errmsg *err);

/* Ranks of a node for -map-by ppr:N:OBJECT. */
int binding_ppr(struct binding *b, struct arena *a, const struct mapping_spec *map,
                uint32_t *per_node_p, struct errmsg *err);

/* Fills plan->procs[].cpus and .binding.  node_hosts: the list entry of each node. */
int binding_apply(struct binding *b, struct plan *plan, const struct host *const *node_hosts,
                  struct errmsg *err);

#endif
