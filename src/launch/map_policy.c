/* map_policy.c - see map_policy.h. */
#include "launch/map_policy.h"

int map_policy_parse(struct map_policy *p, const struct map_policy_words *w, struct arena *a,
                     struct errmsg *err)
{
    p->arena = a;
    if (mapping_parse(w->map_by, &p->map, err) || ranking_parse(w->rank_by, &p->ranking, err))
        return MAP_POLICY_BAD;
    if (p->map.span && !w->rank_by)
        p->ranking.how = RANK_FILL; /* one object after the other */
    if (w->over != OVER_UNSAID)
        p->map.over = w->over;
    return binding_init(&p->binding, w->bind_to, &p->map, err);
}

/* The objects by which ranks are numbered, if any. */
static bool ranking_objects(const struct map_policy *p, enum topo_kind *kind_p)
{
    *kind_p = p->ranking.object_given ? p->ranking.object : p->map.object;
    return ranking_needs_places(&p->ranking) && *kind_p != TOPO_MACHINE &&
           (p->ranking.object_given || p->map.object_given);
}

bool map_policy_needs_hardware(const struct map_policy *p)
{
    enum topo_kind kind;

    return ((p->map.how == MAP_PPR || p->map.span) && p->map.object != TOPO_MACHINE) ||
           ranking_objects(p, &kind);
}

const char *map_policy_bound(const struct map_policy *p, const char *bind_to)
{
    return bind_to || !p->map.pe ? bind_to : arena_printf(p->arena, "core:%u", p->map.pe);
}

static int slots_of(void *policy, const char *node, uint32_t *slots_p, struct errmsg *err)
{
    struct map_policy *p = policy;

    return binding_ppr(&p->binding, p->arena, &p->map, node, slots_p, err);
}

static int objects_of(void *policy, const char *node, uint32_t *objects_p, struct errmsg *err)
{
    struct map_policy *p = policy;
    struct mapping_spec one = p->map;

    one.ppr = 1;
    return binding_ppr(&p->binding, p->arena, &one, node, objects_p, err);
}

void map_policy_request(struct map_policy *p, struct mapping_request *req)
{
    req->how = p->map.how;
    req->over = p->map.over;
    req->arg = p;
    if (p->map.how == MAP_PPR)
        req->slots_of = slots_of;
    if (p->map.span)
        req->objects_of = objects_of;
}

static int number_ranks(struct map_policy *p, struct job_map *plan, struct errmsg *err)
{
    const uint32_t *places = NULL, *turns = NULL;
    enum topo_kind kind;
    int rc = 0;

    if (ranking_objects(p, &kind))
        rc = binding_places(&p->binding, plan, kind, &places, err);
    if (rc == 0)
        rc = ranking_apply(plan, p->ranking.how, places, &turns);
    return rc ? rc : binding_turns(plan, turns);
}

int map_policy_apply(struct map_policy *p, struct job_map *plan,
                     const struct host *const *node_hosts, struct errmsg *err)
{
    int rc = binding_nodes(&p->binding, plan, node_hosts, err);

    if (rc == 0)
        rc = number_ranks(p, plan, err);
    return rc ? rc : binding_apply(&p->binding, plan, err);
}
