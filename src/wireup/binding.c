/* binding.c - see binding.h. */
#include "wireup/binding.h"

#include <errno.h>
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

int binding_apply(struct binding *b, struct plan *plan, const struct host *const *node_hosts,
                  struct errmsg *err)
{
    int rc = 0;

    for (uint32_t n = 0; n < plan->nnodes && rc == 0; n++) {
        if (n && same_binding(node_hosts[n], node_hosts[n - 1]))
            plan->nodes[n].binding = plan->nodes[n - 1].binding;
        else
            rc = node_binding(b, &plan->arena, node_hosts[n], &plan->nodes[n].binding, err);
    }
    return rc ? rc : said(plan_bind(plan, PLAN_EVERY_NODE, &b->machine, err));
}
