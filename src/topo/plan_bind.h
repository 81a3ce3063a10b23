/* plan_bind.h - the processors of the ranks of a plan, on this machine's hardware.
 *
 * A plan says how each node binds (core/job_map.h); this says which processors that means here. The
 * hardware is looked at only when an object is named, once for any number of questions.
 */
#ifndef WIREUP_TOPO_PLAN_BIND_H
#define WIREUP_TOPO_PLAN_BIND_H

#include "base/err.h"
#include "core/job_map.h"
#include "topo/bind.h"

/* What is known of this machine so far; zeroed memory knows nothing. */
struct bind_machine {
    struct topo_view view;
    struct cpus allowed;
    bool looked; /* view is filled */
};

/* Finds out which processors are ours and, if asked, the hardware; memory from the arena.
 * 0; BIND_BAD with the sentence (this machine cannot tell); -errno. */
int bind_look(struct bind_machine *m, struct arena *a, bool view, struct errmsg *err);

/* The words of topo/bind.h as a plan keeps them; NULL: no memory. */
const struct job_map_binding *plan_binding_new(struct arena *a, const struct bind_spec *spec,
                                               const struct bind_order *order);

/* The seats of a binding (NULL: none) on a machine.  0; BIND_BAD with the sentence; -errno. */
int plan_seats(struct arena *a, const struct job_map_binding *b, struct bind_machine *m,
               struct bind_seats *seats_p, struct errmsg *err);

/* Fills cpus and binding of the ranks of one node, which is this machine.
 * 0; BIND_BAD with the sentence; -errno. */
int plan_bind(struct job_map *p, uint32_t node, struct bind_machine *m, struct errmsg *err);

/* The machine of a node; *guess_p: nobody knows, so what cannot be had on this one may well be
 * there. */
typedef struct bind_machine *bind_machine_fn(void *arg, uint32_t node, bool *guess_p);

/* The same of all nodes.  Ranks whose processors cannot be guessed get none, and a binding that
 * says so. */
int plan_bind_all(struct job_map *p, bind_machine_fn *machine, void *arg, struct errmsg *err);

#endif
