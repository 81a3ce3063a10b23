/* map_policy.c - see map_policy.h. */
#include "launch/map_policy.h"

#include <errno.h>
#include <string.h>

/* ---- the words ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_words(const struct map_policy_words *a, const struct map_policy_words *b)
{
    return same_text(a->map_by, b->map_by) && same_text(a->rank_by, b->rank_by) &&
           same_text(a->bind_to, b->bind_to) && a->over == b->over;
}

static int parse_policy(struct map_policies *all, struct map_policy *p,
                        const struct map_policy_words *w, struct errmsg *err)
{
    int rc;

    *p = (struct map_policy){ .words = *w, .arena = all->arena };
    if (mapping_parse(w->map_by, &p->map, err) || ranking_parse(w->rank_by, &p->ranking, err))
        return MAP_POLICY_BAD;
    if (p->map.span && !w->rank_by)
        p->ranking.how = RANK_FILL; /* one object after the other */
    if (w->over != OVER_UNSAID)
        p->map.over = w->over;
    rc = binding_init(&p->binding, w->bind_to, &p->map, &all->machines, err);
    p->binding.placement = (uint32_t)(p - all->items);
    return rc;
}

/* The policy of these words, which may be new. */
static int find_policy(struct map_policies *p, const struct map_policy_words *w, uint32_t *number_p,
                       struct errmsg *err)
{
    uint32_t i = p->count;

    while (i > 0 && !same_words(&p->items[i - 1].words, w))
        i--;
    *number_p = i ? i - 1 : p->count;
    return i ? 0 : parse_policy(p, &p->items[p->count++], w, err);
}

int map_policies_parse(struct map_policies *p, const struct map_policy_words *words, uint32_t napps,
                       struct arena *a, struct errmsg *err)
{
    int rc = 0;

    p->arena = a;
    p->count = 0;
    p->napps = napps;
    p->items = arena_array(a, (size_t)napps + 1, sizeof *p->items);
    p->of_app = arena_array(a, (size_t)napps + 1, sizeof *p->of_app);
    if (!p->items || !p->of_app)
        return -ENOMEM;
    for (uint32_t i = 0; i < napps && rc == 0; i++)
        rc = find_policy(p, &words[i], &p->of_app[i], err);
    return rc;
}

/* The objects by which ranks are numbered, if any. */
static bool ranking_objects(const struct map_policy *p, enum topo_kind *kind_p)
{
    *kind_p = p->ranking.object_given ? p->ranking.object : p->map.object;
    return ranking_needs_places(&p->ranking) && *kind_p != TOPO_MACHINE &&
           (p->ranking.object_given || p->map.object_given);
}

bool map_policies_need_hardware(const struct map_policies *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct map_policy *it = &p->items[i];
        enum topo_kind kind;
        if (((it->map.how == MAP_PPR || it->map.span) && it->map.object != TOPO_MACHINE) ||
            ranking_objects(it, &kind))
            return true;
    }
    return false;
}

static const char *bound(const struct map_policy *p)
{
    const char *bind_to = p->words.bind_to;

    return bind_to || !p->map.pe ? bind_to : arena_printf(p->arena, "core:%u", p->map.pe);
}

int map_policies_words(const struct map_policies *p, struct placement_words *w)
{
    struct placement_words *of_app = arena_array(p->arena, (size_t)p->napps + 1, sizeof *of_app);

    for (uint32_t i = 0; i < p->napps && of_app; i++) {
        const struct map_policy *it = map_policy_of(p, i);
        of_app[i] = (struct placement_words){ .map_by = it->words.map_by,
                                              .rank_by = it->words.rank_by,
                                              .bind_to = bound(it) };
    }
    return of_app ? placement_words_join(p->arena, of_app, p->napps, w) : -ENOMEM;
}

/* ---- the mapping ---- */

/* The first policy that maps in the same way. */
static uint32_t way_of(const struct map_policies *p, uint32_t policy)
{
    const struct map_policy *it = &p->items[policy];
    uint32_t i = 0;

    while (i < policy && (!same_text(p->items[i].words.map_by, it->words.map_by) ||
                          p->items[i].map.over != it->map.over))
        i++;
    return i;
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

int map_policies_request(struct map_policies *p, struct mapping_block *blocks,
                         struct mapping_request *req)
{
    struct mapping_way *ways = arena_array(p->arena, (size_t)p->count + 1, sizeof *ways);

    for (uint32_t i = 0; ways && i < p->count; i++) {
        struct map_policy *it = &p->items[i];
        ways[i] = (struct mapping_way){ .how = it->map.how,
                                        .over = it->map.over,
                                        .slots_of = it->map.how == MAP_PPR ? slots_of : NULL,
                                        .objects_of = it->map.span ? objects_of : NULL,
                                        .arg = it };
    }
    for (uint32_t i = 0; i < p->napps; i++)
        blocks[i].way = way_of(p, p->of_app[i]);
    req->ways = ways;
    req->nways = p->count;
    return ways ? 0 : -ENOMEM;
}

void map_policies_note(const struct map_policies *p, struct job_map *plan)
{
    plan->nplacements = p->count;
    for (uint32_t i = 0; i < plan->napps; i++)
        plan->apps[i].placement = p->of_app[i];
}

/* ---- numbers and processors ---- */

/* places_p: by rank; NULL: no policy asks for them. */
static int find_places(struct map_policies *p, struct job_map *plan, const uint32_t **places_p,
                       struct errmsg *err)
{
    uint32_t *places = NULL;
    enum topo_kind kind;
    int rc = 0;

    for (uint32_t i = 0; i < p->count && rc == 0; i++) {
        if (!ranking_objects(&p->items[i], &kind))
            continue;
        if (!places)
            places = arena_array(&plan->arena, (size_t)plan->nprocs + 1, sizeof *places);
        rc = places ? binding_places(&p->items[i].binding, plan, kind, places, err) : -ENOMEM;
    }
    *places_p = places;
    return rc;
}

static int number_ranks(struct map_policies *p, struct job_map *plan, struct errmsg *err)
{
    enum ranking_how *how = arena_array(&plan->arena, (size_t)p->count + 1, sizeof *how);
    const uint32_t *places = NULL, *turns = NULL;
    int rc = how ? find_places(p, plan, &places, err) : -ENOMEM;

    for (uint32_t i = 0; i < p->count && how; i++)
        how[i] = p->items[i].ranking.how;
    if (rc == 0)
        rc = ranking_apply(plan, how, places, &turns);
    return rc ? rc : binding_turns(plan, turns);
}

int map_policies_apply(struct map_policies *p, struct job_map *plan,
                       const struct host *const *node_hosts, struct errmsg *err)
{
    int rc = binding_begin(plan, err);

    for (uint32_t i = 0; i < p->count && rc == 0; i++)
        rc = binding_nodes(&p->items[i].binding, plan, node_hosts, err);
    if (rc == 0)
        rc = number_ranks(p, plan, err);
    return rc ? rc : binding_apply(&p->machines, plan, err);
}
