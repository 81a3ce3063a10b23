/* plan_bind.c - see plan_bind.h. */
#include "topo/plan_bind.h"

#include <errno.h>
#include <stdlib.h>

int bind_look(struct bind_machine *m, struct arena *a, bool view, struct errmsg *err)
{
    int rc = 0;

    if (!m->allowed.bits)
        rc = cpus_allowed(a, &m->allowed);
    if (rc == 0 && view && !m->looked)
        rc = topo_view_machine(a, &m->view, err);
    m->looked = m->looked || (view && rc == 0);
    return rc == TOPO_MISSING ? BIND_BAD : rc;
}

const struct plan_binding *plan_binding_new(struct arena *a, const struct bind_spec *spec,
                                            const struct bind_order *order)
{
    struct plan_binding *b = arena_array(a, 1, sizeof *b);

    if (!b)
        return NULL;
    *b = (struct plan_binding){ .how = spec->how,
                                .kind = spec->kind,
                                .width = spec->width,
                                .list = spec->list ? arena_str(a, slice_str(spec->list)) : NULL,
                                .ordered = order->said,
                                .order_kind = order->kind,
                                .order_width = order->width,
                                .order_block = order->block };
    return arena_ok(a) ? b : NULL;
}

/* A plan may come from elsewhere: its numbers are held against what exists. */
static int read_binding(const struct plan_binding *b, struct bind_spec *spec,
                        struct bind_order *order, struct errmsg *err)
{
    if (b->how > BIND_SLOTS || b->kind >= TOPO_KIND_COUNT || b->order_kind >= TOPO_KIND_COUNT ||
        ((b->how == BIND_USER || b->how == BIND_SLOTS) && !b->list) ||
        (b->how == BIND_OBJECT && b->width == 0))
        return errmsg_set(err, BIND_BAD, "a plan with a binding that does not exist");
    *spec = (struct bind_spec){ (enum bind_how)b->how, (enum topo_kind)b->kind, b->width, b->list };
    *order = (struct bind_order){ b->ordered, (enum topo_kind)b->order_kind, b->order_width,
                                  b->order_block };
    return 0;
}

static int node_seats(struct arena *a, const struct plan_binding *b, struct bind_machine *m,
                      struct bind_seats *seats_p, struct errmsg *err)
{
    struct bind_spec spec;
    struct bind_order order;
    int rc;

    if (!b)
        return 0;
    rc = read_binding(b, &spec, &order, err);
    if (rc || spec.how == BIND_NONE)
        return rc;
    rc = bind_look(m, a, bind_needs_view(&spec), err);
    return rc ? rc : bind_seats(a, &spec, &order, &m->view, m->allowed, seats_p, err);
}

static void take_seat(struct plan_proc *q, const struct bind_seats *s)
{
    const struct bind_seat *seat = s->count ? &s->items[q->local_rank % s->count] : NULL;

    if (!seat)
        return;
    q->cpus = seat->cpus.bits;
    q->cpus_bytes = seat->cpus.words * sizeof *seat->cpus.bits;
    q->binding = seat->text;
}

static void take_seats(struct plan *p, const struct bind_seats *seats)
{
    for (uint32_t r = 0; r < p->nprocs; r++)
        take_seat(&p->procs[r], &seats[p->procs[r].node]);
}

/* Neighbours mostly share theirs, and what is found out for one holds for the next. */
static bool like_last(const struct plan *p, uint32_t n)
{
    return n && p->nodes[n].binding == p->nodes[n - 1].binding;
}

int plan_bind(struct plan *p, uint32_t node, struct bind_machine *m, struct errmsg *err)
{
    struct bind_seats *seats = calloc((size_t)p->nnodes + 1, sizeof *seats);
    int rc = seats ? 0 : -ENOMEM;

    for (uint32_t n = 0; n < p->nnodes && rc == 0; n++) {
        if (node != PLAN_EVERY_NODE && node != n)
            continue;
        if (node != n && like_last(p, n))
            seats[n] = seats[n - 1];
        else
            rc = node_seats(&p->arena, p->nodes[n].binding, m, &seats[n], err);
    }
    if (rc == 0)
        take_seats(p, seats);
    free(seats);
    return rc;
}

int plan_bind_guess(struct plan *p, uint32_t here, struct bind_machine *m, struct errmsg *err)
{
    static struct bind_seat unknown = { .text = "as that node can" };
    struct bind_seats *seats = calloc((size_t)p->nnodes + 1, sizeof *seats);
    int rc = seats ? 0 : -ENOMEM;

    for (uint32_t n = 0; n < p->nnodes && rc == 0; n++) {
        if (n != here && n - 1 != here && like_last(p, n)) {
            seats[n] = seats[n - 1];
            continue;
        }
        rc = node_seats(&p->arena, p->nodes[n].binding, m, &seats[n], err);
        if (rc != BIND_BAD || n == here)
            continue;
        seats[n] = (struct bind_seats){ &unknown, 1 };
        rc = 0;
    }
    if (rc == 0)
        take_seats(p, seats);
    free(seats);
    return rc;
}
