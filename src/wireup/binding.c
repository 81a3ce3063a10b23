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

/* topo's condition as ours. */
static int said(int rc)
{
    return rc == BIND_BAD ? BINDING_CANNOT : rc;
}

int binding_ppr(struct binding *b, struct arena *a, const struct mapping_spec *map,
                uint32_t *per_node_p, struct errmsg *err)
{
    uint64_t objects = 1;
    int rc = 0;

    if (map->object != TOPO_MACHINE) {
        rc = said(bind_look(&b->machine, a, true, err));
        if (rc == 0)
            objects = bind_objects(&b->machine.view, map->object, b->machine.allowed);
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

static bool same_binding(const struct host *a, const struct host *b)
{
    if (!a->binding || !b->binding)
        return a->binding == b->binding;
    return strcmp(a->binding, b->binding) == 0;
}

/* A host file may have said something of its own for a node. */
static int node_binding(const struct binding *b, struct arena *a, const struct host *host,
                        const struct plan_binding **binding_p, struct errmsg *err)
{
    struct bind_spec spec = b->spec;

    if (host->binding && bind_parse(host->binding, &spec, err))
        return BINDING_BAD;
    if (spec.how == BIND_NONE)
        return 0;
    *binding_p = plan_binding_new(a, &spec, &b->order);
    return *binding_p ? 0 : -ENOMEM;
}

/* ---- the places of a rank file ---- */

/* All nodes' lists in one piece of memory: room for each first, then what each rank has. */
static char **slot_lists(const struct rankfile *file, struct plan *plan)
{
    char **lists = arena_array(&plan->arena, (size_t)plan->nnodes + 1, sizeof *lists);
    size_t *room = calloc((size_t)plan->nnodes + 1, sizeof *room);

    for (uint32_t r = 0; r < plan->nprocs && room && lists; r++) {
        const char *slots = file->ranks[r].slots;
        room[plan->procs[r].node] += (slots ? strlen(slots) : 0) + 1;
    }
    for (uint32_t n = 0; n < plan->nnodes && room && lists; n++)
        lists[n] = arena_alloc(&plan->arena, room[n] + 1);
    free(room);
    return arena_ok(&plan->arena) && room && lists ? lists : NULL;
}

/* Ranks of a node come in the order of their local ranks. */
static int fill_slot_lists(const struct rankfile *file, const struct plan *plan, char **lists)
{
    char **at = calloc((size_t)plan->nnodes + 1, sizeof *at);

    if (!at)
        return -ENOMEM;
    for (uint32_t r = 0; r < plan->nprocs; r++) {
        const struct plan_proc *q = &plan->procs[r];
        if (q->local_rank == 0)
            at[q->node] = lists[q->node];
        else
            *at[q->node]++ = '|';
        if (file->ranks[r].slots)
            at[q->node] = stpcpy(at[q->node], file->ranks[r].slots);
    }
    free(at);
    return 0;
}

static int bind_slots(const struct rankfile *file, struct plan *plan)
{
    struct bind_order order = { 0 };
    char **lists = slot_lists(file, plan);
    int rc = lists ? fill_slot_lists(file, plan, lists) : -ENOMEM;

    for (uint32_t n = 0; n < plan->nnodes && rc == 0; n++) {
        struct bind_spec spec = { .how = BIND_SLOTS, .width = 1, .list = lists[n] };
        if (n && strcmp(lists[n], lists[n - 1]) == 0)
            plan->nodes[n].binding = plan->nodes[n - 1].binding;
        else
            plan->nodes[n].binding = plan_binding_new(&plan->arena, &spec, &order);
        rc = plan->nodes[n].binding ? 0 : -ENOMEM;
    }
    return rc;
}

/* ---- all of it ---- */

static int bind_nodes(const struct binding *b, struct plan *plan,
                      const struct host *const *node_hosts, struct errmsg *err)
{
    int rc = 0;

    if (b->ranks && b->ranks->binds)
        return bind_slots(b->ranks, plan);
    for (uint32_t n = 0; n < plan->nnodes && rc == 0; n++) {
        if (n && same_binding(node_hosts[n], node_hosts[n - 1]))
            plan->nodes[n].binding = plan->nodes[n - 1].binding;
        else
            rc = node_binding(b, &plan->arena, node_hosts[n], &plan->nodes[n].binding, err);
    }
    return rc;
}

static uint32_t node_here(const struct binding *b, const struct plan *plan)
{
    for (uint32_t n = 0; n < plan->nnodes && b->here; n++) {
        if (strcmp(plan->nodes[n].name, b->here) == 0)
            return n;
    }
    return PLAN_EVERY_NODE;
}

int binding_apply(struct binding *b, struct plan *plan, const struct host *const *node_hosts,
                  struct errmsg *err)
{
    int rc = bind_nodes(b, plan, node_hosts, err);

    if (rc)
        return rc;
    if (b->remote)
        return said(plan_bind_guess(plan, node_here(b, plan), &b->machine, err));
    return said(plan_bind(plan, PLAN_EVERY_NODE, &b->machine, err));
}
