/* plan_bind.h - the processors of the ranks of a job map, on this machine's hardware.
 *
 * A job map contains the binding policy of each node (core/job_map.h); this module turns it into
 * processors of this machine.  The hardware is examined only if an object is named, once for any
 * number of queries.
 */
#ifndef WIREUP_TOPO_PLAN_BIND_H
#define WIREUP_TOPO_PLAN_BIND_H

#include "base/err.h"
#include "core/job_map.h"
#include "topo/bind.h"

/* The known facts of this machine; zeroed memory: none yet. */
struct bind_machine {
    struct topo_view view;
    struct cpus allowed;
    bool looked; /* view is filled */
};

/* Determines the allowed processors and, if view is set, the hardware; memory from the arena.
 * 0; BIND_BAD with the sentence (not available on this machine); -errno. */
int bind_look(struct bind_machine *m, struct arena *a, bool view, struct errmsg *err);
/* The same with the devices. */
int bind_look_devices(struct bind_machine *m, struct arena *a, struct errmsg *err);
/* Another machine, which a file of hwloc's XML describes; all of its processors are allowed. */
int bind_look_file(struct bind_machine *m, struct arena *a, const char *path, struct errmsg *err);

/* A binding of topo/bind.h in the form that a job map keeps; NULL: no memory. */
const struct job_map_binding *plan_binding_new(struct arena *a, const struct bind_spec *spec,
                                               const struct bind_order *order);

/* The seats of a binding (NULL: none) on a machine where processes of other placements have
 * processors, *taken (zeroed memory: none yet): those that have none of these come first, but a
 * list of the user's keeps its order.  n processes take seats, and their processors become taken,
 * too. 0; BIND_BAD with the sentence; -errno. */
int plan_seats_beside(struct arena *a, const struct job_map_binding *b, struct bind_machine *m,
                      uint32_t n, struct cpus *taken, struct bind_seats *seats_p,
                      struct errmsg *err);

/* Fills cpus and binding of the ranks of one node, which is this machine.
 * 0; BIND_BAD with the sentence; -errno. */
int plan_bind(struct job_map *p, uint32_t node, struct bind_machine *m, struct errmsg *err);

/* The machine of a node; *guess_p: it is only assumed, so an object that is missing in it may exist
 * on the node. */
typedef struct bind_machine *bind_machine_fn(void *arg, uint32_t node, bool *guess_p);

/* The same for all nodes.  Ranks whose processors cannot be guessed get none, and a binding text
 * that states it. */
int plan_bind_all(struct job_map *p, bind_machine_fn *machine, void *arg, struct errmsg *err);

#endif
