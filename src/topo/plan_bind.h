/* plan_bind.h - the processors of the ranks of a plan, on this machine's hardware.
 *
 * A plan says how each node binds (core/plan.h); this says which processors that means here.  The
 * hardware is looked at only when an object is named, once for any number of questions.
 */
#ifndef WIREUP_TOPO_PLAN_BIND_H
#define WIREUP_TOPO_PLAN_BIND_H

#include "base/err.h"
#include "core/plan.h"
#include "topo/bind.h"

/* What is known of this machine so far; zeroed memory knows nothing. */
struct bind_machine {
    struct topo_view view;
    struct cpus allowed;
    bool looked; /* view is filled */
};

enum { PLAN_EVERY_NODE = UINT32_MAX };

/* Finds out which processors are ours and, if asked, the hardware; memory from the arena.
 * 0; BIND_BAD with the sentence (this machine cannot tell); -errno. */
int bind_look(struct bind_machine *m, struct arena *a, bool view, struct errmsg *err);

/* The words of topo/bind.h as a plan keeps them; NULL: no memory. */
const struct plan_binding *plan_binding_new(struct arena *a, const struct bind_spec *spec,
                                            const struct bind_order *order);

/* Fills cpus and binding of the ranks of one node, or of all as if each were this machine.
 * 0; BIND_BAD with the sentence; -errno. */
int plan_bind(struct plan *p, uint32_t node, struct bind_machine *m, struct errmsg *err);

/* The same of all nodes, of which one (or, with PLAN_EVERY_NODE, none) is this machine.  What is
 * not to be had here may well be there: ranks of such nodes get no processors, and a binding that
 * says so. */
int plan_bind_guess(struct plan *p, uint32_t here, struct bind_machine *m, struct errmsg *err);

#endif
