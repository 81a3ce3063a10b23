/* binding.c - see binding.h. */
#include "launch/binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "topo/places.h"

/* Bindings of all nodes and placements: a number that fits memory and messages. */
enum { BINDINGS_MAX = 1 << 22 };

/* :pe=N means -bind-to core:N; cores must then not be the order as well. */
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
        b->order.given = false;
    return 0;
}

/* Who gets a device gets the cores near it, unless the user names others. */
static int bind_near(struct binding *b, const char *bind_to, const struct mapping_spec *map,
                     struct errmsg *err)
{
    if (!bind_to)
        b->spec = (struct bind_spec){ BIND_OBJECT, map->object, map->width, NULL };
    else if (b->spec.how != BIND_OBJECT)
        return errmsg_set(
            err, BINDING_BAD,
            "-bind-to %.100s: processes that get devices are bound to processors near "
            "them; to bind them to all, use -bind-to machine",
            bind_to);
    return 0;
}

int binding_init(struct binding *b, const char *bind_to, const struct mapping_spec *map,
                 struct binding_machines *machines, struct errmsg *err)
{
    *b = (struct binding){ .machines = machines };
    if (bind_parse(bind_to, &b->spec, err))
        return BINDING_BAD;
    if (map->object_given && map->object != TOPO_MACHINE)
        b->order = (struct bind_order){ true, map->object, map->width, map->ppr };
    if (map->object_given && topo_kind_is_device(map->object) && !map->pe)
        return bind_near(b, bind_to, map, err);
    return map->pe ? apply_pe(b, bind_to, map->pe, err) : 0;
}

/* Maps topo's results to ours. */
static int to_binding_code(int rc)
{
    return rc == BIND_BAD ? BINDING_CANNOT : rc;
}

/* The hardware of a node, as far as known. */
static struct bind_machine *machine_of(struct binding_machines *known, const char *node)
{
    struct bind_machine *remote =
        known->remote_machine ? known->remote_machine(known->arg, node) : NULL;

    return remote ? remote : &known->own;
}

static int has_none(const struct binding *b, const struct bind_machine *m, const char *option,
                    enum topo_kind kind, const char *node, struct errmsg *err)
{
    const char *name = topo_kind_name(kind);

    if (m == &b->machines->own)
        return errmsg_set(err, BINDING_CANNOT, "%s: this machine has no %s", option, name);
    return errmsg_set(err, BINDING_CANNOT, "%s: node %.200s has no %s", option, node, name);
}

int binding_ppr(struct binding *b, struct arena *a, const struct mapping_spec *map,
                const char *node, uint32_t *per_node_p, struct errmsg *err)
{
    struct bind_machine *m = machine_of(b->machines, node);
    uint64_t objects = 1;
    int rc = 0;

    if (map->object != TOPO_MACHINE) {
        rc = topo_kind_is_device(map->object) ? bind_look_devices(m, a, err)
                                              : bind_look(m, a, true, err);
        rc = to_binding_code(rc);
        if (rc == 0)
            objects = bind_objects(&m->view, map->object, m->allowed) / map->width;
    }
    if (rc == 0 && objects == 0)
        rc = has_none(b, m,
                      topo_kind_is_device(map->object) ? "devices"
                      : map->how == MAP_PPR            ? "-map-by ppr"
                                                       : "-map-by",
                      map->object, node, err);
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

/* A host file may have its own binding for a node. */
static int node_binding(const struct binding *b, struct arena *a, const struct host *host,
                        const struct job_map_binding **binding_p, struct errmsg *err)
{
    struct bind_spec spec = b->spec;

    if (host->binding && bind_parse(host->binding, &spec, err))
        return BINDING_BAD;
    if (spec.how == BIND_NONE)
        return 0;
    *binding_p = plan_binding_new(a, &spec, &b->order);
    return *binding_p ? 0 : -ENOMEM;
}

/* ---- slots of a rank file ---- */

/* All nodes' lists in one allocation: first the size of each, then the slots of each rank. */
static char **slot_lists(const struct rankfile *file, struct job_map *plan)
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

/* The ranks of a node come in the order of their local ranks. */
static int fill_slot_lists(const struct rankfile *file, const struct job_map *plan, char **lists)
{
    char **at = calloc((size_t)plan->nnodes + 1, sizeof *at);

    if (!at)
        return -ENOMEM;
    for (uint32_t r = 0; r < plan->nprocs; r++) {
        const struct job_map_proc *q = &plan->procs[r];
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

static int bind_slots(const struct rankfile *file, struct job_map *plan)
{
    struct bind_order order = { 0 };
    char **lists = slot_lists(file, plan);
    int rc = lists ? fill_slot_lists(file, plan, lists) : -ENOMEM;

    for (uint32_t n = 0; n < plan->nnodes && rc == 0; n++) {
        struct bind_spec spec = { .how = BIND_SLOTS, .width = 1, .list = lists[n] };
        if (n && strcmp(lists[n], lists[n - 1]) == 0)
            plan->nodes[n].bindings[0] = plan->nodes[n - 1].bindings[0];
        else
            plan->nodes[n].bindings[0] = plan_binding_new(&plan->arena, &spec, &order);
        rc = plan->nodes[n].bindings[0] ? 0 : -ENOMEM;
    }
    return rc;
}

/* ---- bindings of all nodes ---- */

int binding_begin(struct job_map *plan, struct errmsg *err)
{
    uint64_t n = (uint64_t)plan->nnodes * plan->nplacements;
    const struct job_map_binding **all = NULL;

    if (n > BINDINGS_MAX)
        return errmsg_set(err, BINDING_CANNOT,
                          "%u different placements on %u nodes are too many: map and bind more of "
                          "the programs alike",
                          plan->nplacements, plan->nnodes);
    all = arena_array(&plan->arena, (size_t)n + 1, sizeof *all);
    for (uint32_t i = 0; all && i < plan->nnodes; i++)
        plan->nodes[i].bindings = &all[(size_t)i * plan->nplacements];
    return all ? 0 : -ENOMEM;
}

int binding_nodes(struct binding *b, struct job_map *plan, const struct host *const *node_hosts,
                  struct errmsg *err)
{
    int rc = 0;

    if (b->ranks && b->ranks->binds)
        return bind_slots(b->ranks, plan);
    for (uint32_t n = 0; n < plan->nnodes && rc == 0; n++) {
        const struct job_map_binding **own = &plan->nodes[n].bindings[b->placement];
        if (n && same_binding(node_hosts[n], node_hosts[n - 1]))
            *own = plan->nodes[n - 1].bindings[b->placement];
        else
            rc = node_binding(b, &plan->arena, node_hosts[n], own, err);
    }
    return rc;
}

/* ---- renumbered ranks ---- */

/* Where the processes of each placement of each node begin if they are sorted by that, and the end
 * of all. */
static uint32_t *sort_groups(const struct job_map *p)
{
    size_t n = (size_t)p->nnodes * p->nplacements;
    uint32_t *first = calloc(n + 2, sizeof *first);

    for (uint32_t r = 0; r < p->nprocs && first; r++)
        first[(size_t)p->procs[r].node * p->nplacements + p->apps[p->procs[r].app].placement + 1]++;
    for (size_t i = 0; i < n && first; i++)
        first[i + 1] += first[i];
    return first;
}

/* The seats that the placements before leave, as each node will deal them out. */
static int bound_seats(struct binding *b, struct job_map *plan, uint32_t node,
                       const uint32_t *groups, struct bind_machine *m, struct bind_seats *seats_p,
                       struct errmsg *err)
{
    const uint32_t *own = &groups[(size_t)node * plan->nplacements];
    struct cpus taken = { NULL, 0 };
    int rc = 0;

    for (uint32_t k = 0; k <= b->placement && rc == 0; k++) {
        *seats_p = (struct bind_seats){ NULL, 0 };
        rc = plan_seats_beside(&plan->arena, job_map_bound(plan, node, k), m, own[k + 1] - own[k],
                               &taken, seats_p, err);
    }
    return rc;
}

/* The objects of a node's processes: their binding; for unbound processes, the objects of the
 * mapping. */
static int node_seats(struct binding *b, struct job_map *plan, uint32_t node,
                      const uint32_t *groups, struct bind_machine *m, struct bind_seats *seats_p,
                      struct errmsg *err)
{
    struct bind_spec spec = { .how = BIND_OBJECT, .kind = b->order.kind, .width = b->order.width };

    *seats_p = (struct bind_seats){ NULL, 0 };
    if (job_map_bound(plan, node, b->placement))
        return bound_seats(b, plan, node, groups, m, seats_p, err);
    if (!b->order.given)
        return 0;
    return bind_seats(&plan->arena, &spec, &b->order, &m->view, m->allowed, seats_p, err);
}

/* The objects of one node's processes, in the order of the mapping. */
static int find_places(struct binding *b, struct job_map *plan, uint32_t node,
                       const uint32_t *groups, enum topo_kind kind, uint32_t *place,
                       struct errmsg *err)
{
    const char *name = plan->nodes[node].name;
    struct bind_machine *m = machine_of(b->machines, name);
    struct bind_seats seats;
    int rc = topo_kind_is_device(kind) ? bind_look_devices(m, &plan->arena, err)
                                       : bind_look(m, &plan->arena, true, err);

    if (rc == 0 && bind_objects(&m->view, kind, m->allowed) == 0)
        return has_none(b, m, "-rank-by", kind, name, err);
    if (rc == 0)
        rc = node_seats(b, plan, node, groups, m, &seats, err);
    if (rc)
        return to_binding_code(rc);
    return places_find(&m->view.kinds[kind], m->allowed, &seats, plan->nodes[node].nprocs, place);
}

/* The object of a process depends only on those before it: so consecutive nodes with the same
 * machine and binding share one result. */
static bool has_places_of_last(struct binding *b, const struct job_map *p, uint32_t n)
{
    return n && p->nplacements == 1 &&
           job_map_bound(p, n, b->placement) == job_map_bound(p, n - 1, b->placement) &&
           p->nodes[n].nprocs <= p->nodes[n - 1].nprocs &&
           machine_of(b->machines, p->nodes[n].name) ==
               machine_of(b->machines, p->nodes[n - 1].name);
}

static int find_all_places(struct binding *b, struct job_map *plan, const uint32_t *groups,
                           enum topo_kind kind, const uint32_t **of_node, struct errmsg *err)
{
    int rc = 0;

    for (uint32_t n = 0; n < plan->nnodes && rc == 0; n++) {
        uint32_t *place;
        if (has_places_of_last(b, plan, n)) {
            of_node[n] = of_node[n - 1];
            continue;
        }
        of_node[n] = place = arena_array(&plan->arena, plan->nodes[n].nprocs + 1u, sizeof *place);
        rc = place ? find_places(b, plan, n, groups, kind, place, err) : -ENOMEM;
    }
    return rc;
}

int binding_places(struct binding *b, struct job_map *plan, enum topo_kind kind, uint32_t *places,
                   struct errmsg *err)
{
    const uint32_t **of_node = calloc((size_t)plan->nnodes + 1, sizeof *of_node);
    uint32_t *seats = job_map_seats(plan), *groups = sort_groups(plan);
    int rc =
        of_node && seats && groups ? find_all_places(b, plan, groups, kind, of_node, err) : -ENOMEM;

    for (uint32_t r = 0; r < plan->nprocs && rc == 0; r++) {
        const struct job_map_proc *q = &plan->procs[r];
        if (plan->apps[q->app].placement == b->placement)
            places[r] = of_node[q->node][seats[r]];
    }
    free(of_node);
    free(seats);
    free(groups);
    return rc;
}

static bool in_order(const uint32_t *turns, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && turns[i] == i)
        i++;
    return i == n;
}

/* A binding with turns; the previous node's if it is the same. */
static const struct job_map_binding *with_turns(struct job_map *p,
                                                const struct job_map_binding *binding,
                                                const struct job_map_binding *last,
                                                const uint32_t *turns, uint32_t n)
{
    struct job_map_binding *copy;

    if (last && last->nturns == n && memcmp(last->turns, turns, n * sizeof *turns) == 0)
        return last;
    copy = arena_array(&p->arena, 1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = *binding;
    copy->turns = turns;
    copy->nturns = n;
    return copy;
}

/* All turns in one allocation, node after node, on each by placement and seat. */
static uint32_t *sort_turns(struct job_map *p, const uint32_t *turns, const uint32_t *first)
{
    uint32_t *sorted = arena_array(&p->arena, (size_t)p->nprocs + 1, sizeof *sorted);
    uint32_t *seats = job_map_seats(p);

    for (uint32_t r = 0; r < p->nprocs && seats && sorted; r++) {
        const struct job_map_proc *q = &p->procs[r];
        size_t group = (size_t)q->node * p->nplacements + p->apps[q->app].placement;
        sorted[first[group] + seats[r]] = turns[r];
    }
    if (!seats)
        sorted = NULL;
    free(seats);
    return sorted;
}

/* The turns of one placement. */
static int give_turns(struct job_map *p, uint32_t placement, const uint32_t *turns,
                      const uint32_t *first)
{
    const struct job_map_binding *last = NULL, *plain = NULL;

    for (uint32_t n = 0; n < p->nnodes; n++) {
        const struct job_map_binding *binding = job_map_bound(p, n, placement);
        size_t group = (size_t)n * p->nplacements + placement;
        const uint32_t *own = &turns[first[group]];
        uint32_t count = first[group + 1] - first[group];
        if (!binding || in_order(own, count))
            continue;
        last = with_turns(p, binding, binding == plain ? last : NULL, own, count);
        if (!last)
            return -ENOMEM;
        plain = binding;
        p->nodes[n].bindings[placement] = last;
    }
    return 0;
}

int binding_turns(struct job_map *plan, const uint32_t *turns)
{
    uint32_t *first = turns ? sort_groups(plan) : NULL;
    const uint32_t *sorted = first ? sort_turns(plan, turns, first) : NULL;
    int rc = turns && !sorted ? -ENOMEM : 0;

    for (uint32_t k = 0; k < plan->nplacements && sorted && rc == 0; k++)
        rc = give_turns(plan, k, sorted, first);
    free(first);
    return rc;
}

/* ---- processors of all nodes ---- */

struct applying {
    struct binding_machines *machines;
    const struct job_map *plan;
};

/* Another machine itself reports bindings that are impossible there. */
static struct bind_machine *machine_for(void *arg, uint32_t node, bool *guess_p)
{
    const struct applying *a = arg;
    struct binding_machines *known = a->machines;
    const char *name = a->plan->nodes[node].name;

    *guess_p = known->remote && !(known->here && strcmp(name, known->here) == 0);
    return machine_of(known, name);
}

int binding_apply(struct binding_machines *m, struct job_map *plan, struct errmsg *err)
{
    struct applying a = { m, plan };

    return to_binding_code(plan_bind_all(plan, machine_for, &a, err));
}
