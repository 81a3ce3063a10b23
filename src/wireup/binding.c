/* binding.c - see binding.h. */
#include "wireup/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

/* :pe=N is another way to say -bind-to core:N; cores must then not be the order as well. */
static int apply_pe(struct binding *b, const char *bind_to, uint32_t pe, struct errmsg *err)
{
    if (bind_to && (b->spec.how != BIND_OBJECT || b->spec.kind > TOPO_CORE || b->spec.width != 1))
        return errmsg_set(err, BINDING_BAD,
                          "-map-by ...:pe=%u binds to cores, -bind-to %.100s to something else", pe,
                          bind_to);
    if (!bind_to)
        b->spec = (struct bind_spec){ .how = BIND_OBJECT, .kind = TOPO_CORE };
    b->spec.width = pe;
    if (b->order.kind <= TOPO_CORE)
        b->order.said = false;
    return 0;
}

int binding_init(struct binding *b, const char *bind_to, const struct mapping_spec *map,
                 struct errmsg *err)
{
    memset(b, 0, sizeof *b);
    if (bind_parse(bind_to, &b->spec, err))
        return BINDING_BAD;
    if (map->object_said && map->object != TOPO_MACHINE)
        b->order = (struct bind_order){ true, map->object, map->width, map->ppr };
    return map->pe ? apply_pe(b, bind_to, map->pe, err) : 0;
}

static int look(struct binding *b, struct arena *a, bool view, struct errmsg *err)
{
    int rc = 0;

    if (!b->allowed.bits)
        rc = cpus_allowed(a, &b->allowed);
    if (rc == 0 && view && !b->looked)
        rc = topo_view_machine(a, &b->view, err);
    b->looked = b->looked || (view && rc == 0);
    return rc == TOPO_MISSING ? BINDING_CANNOT : rc;
}

int binding_ppr(struct binding *b, struct arena *a, const struct mapping_spec *map,
                uint32_t *per_node_p, struct errmsg *err)
{
    uint64_t objects = 1;
    int rc = 0;

    if (map->object != TOPO_MACHINE) {
        rc = look(b, a, true, err);
        if (rc == 0)
            objects = bind_objects(&b->view, map->object, b->allowed);
    }
    if (rc == 0 && objects == 0)
        rc = errmsg_set(err, BINDING_CANNOT, "-map-by ppr: this machine has no %s",
                        topo_kind_name(map->object));
    if (rc == 0 && objects * map->ppr > LIMIT_JOB_PROCS)
        rc = errmsg_set(err, BINDING_BAD, "-map-by ppr: more than %u processes in one job",
                        LIMIT_JOB_PROCS);
    if (rc == 0)
        *per_node_p = (uint32_t)objects * map->ppr;
    return rc;
}

/* The seats of one node; a host file may have said something of its own for it. */
static int node_seats(struct binding *b, struct arena *a, const struct host *host,
                      struct bind_seats *seats_p, struct errmsg *err)
{
    struct bind_spec spec = b->spec;
    int rc;

    if (host->binding && bind_parse(host->binding, &spec, err))
        return BINDING_BAD;
    if (spec.how == BIND_NONE)
        return 0;
    rc = look(b, a, bind_needs_view(&spec), err);
    if (rc == 0)
        rc = bind_seats(a, &spec, &b->order, &b->view, b->allowed, seats_p, err);
    return rc == BIND_BAD ? BINDING_CANNOT : rc;
}

static bool same_binding(const struct host *a, const struct host *b)
{
    if (!a->binding || !b->binding)
        return a->binding == b->binding;
    return strcmp(a->binding, b->binding) == 0;
}

int binding_apply(struct binding *b, struct plan *plan, const struct host *const *node_hosts,
                  struct errmsg *err)
{
    struct bind_seats *seats = calloc(plan->nnodes, sizeof *seats);
    int rc = seats ? 0 : -ENOMEM;

    for (uint32_t n = 0; n < plan->nnodes && rc == 0; n++) {
        if (n && same_binding(node_hosts[n], node_hosts[n - 1]))
            seats[n] = seats[n - 1];
        else
            rc = node_seats(b, &plan->arena, node_hosts[n], &seats[n], err);
    }
    for (uint32_t r = 0; r < plan->nprocs && rc == 0; r++) {
        struct plan_proc *q = &plan->procs[r];
        const struct bind_seats *s = &seats[q->node];
        const struct bind_seat *seat = s->count ? &s->items[q->local_rank % s->count] : NULL;
        if (!seat)
            continue;
        q->cpus = seat->cpus.bits;
        q->cpus_bytes = seat->cpus.words * sizeof *seat->cpus.bits;
        q->binding = seat->text;
    }
    free(seats);
    return rc;
}
