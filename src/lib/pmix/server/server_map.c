/* server_map.c - see server_map.h. */
#include "lib/pmix/server/server_map.h"

#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "lib/pmix/server/server_infos.h"
#include "wire/pmix_types.h"

typedef void info_fn(struct smap *b, const pmix_info_t *i);

/* Visits every registered info, also within an array of the job's. */
static void each_info(struct smap *b, info_fn *fn)
{
    LIST_EACH(l, &b->n->infos)
    {
        const pmix_info_t *i = &LIST_OF(l, struct registered_info, link)->info;
        struct info_group g = info_group_of(i);
        fn(b, i);
        for (size_t k = 0; info_key_is(i, PMIX_JOB_INFO_ARRAY) && k < g.n; k++)
            fn(b, &g.list[k]);
    }
}

static uint32_t node_named(struct smap *b, const char *name)
{
    for (uint32_t i = 0; i < b->nnodes; i++) {
        if (!strcmp(b->names[i], name))
            return i;
    }
    return SMAP_NOWHERE;
}

static uint32_t add_node(struct smap *b, const char *name)
{
    if (b->nnodes == b->names_room) {
        uint32_t room = b->names_room ? 2 * b->names_room : 8;
        const char **names = arena_array(&b->plan.arena, room, sizeof *names);
        if (!names)
            return SMAP_NOWHERE;
        if (b->nnodes)
            memcpy(names, b->names, b->nnodes * sizeof *names);
        b->names = names;
        b->names_room = room;
    }
    b->names[b->nnodes] = arena_str(&b->plan.arena, slice_str(name));
    return b->names[b->nnodes] ? b->nnodes++ : SMAP_NOWHERE;
}

static uint32_t make_node(struct smap *b, const char *name)
{
    uint32_t at = node_named(b, name);

    return at != SMAP_NOWHERE ? at : add_node(b, name);
}

/* Only the compressed form contains NULs, and it holds its own length. */
static struct slice map_slice(const char *text)
{
    return strncmp(text, "blob", 4) ? slice_str(text) : slice_mem(text, ptype_regex_size(text));
}

/* Reads sizes and maps, which everything else refers to. */
static void read_shape(struct smap *b, const pmix_info_t *i)
{
    const char *text = info_text(i);
    uint32_t number;

    if (info_key_is(i, PMIX_JOB_SIZE) && info_number(i, &number)) {
        b->size = number;
        b->has_size = true;
    } else if (info_key_is(i, PMIX_UNIV_SIZE) && info_number(i, &number)) {
        b->universe = number;
    } else if (info_key_is(i, PMIX_NODE_MAP) && text) {
        regex_read_nodes(&b->plan.arena, map_slice(text), &b->nodes);
    } else if (info_key_is(i, PMIX_NODE_LIST) && text && !b->nodes.count) {
        regex_read_nodes(&b->plan.arena, slice_str(text), &b->nodes);
    } else if (info_key_is(i, PMIX_PROC_MAP) && text) {
        regex_read_ranks(&b->plan.arena, map_slice(text), &b->ranks);
    }
}

/* Jobs without a registered size: the highest number mentioned anywhere. */
static void read_highest(struct smap *b, const pmix_info_t *i)
{
    const pmix_info_t *r =
        info_key_is(i, PMIX_PROC_INFO_ARRAY) ? info_group_find(info_group_of(i), PMIX_RANK) : NULL;
    uint32_t rank;

    if (r && info_number(r, &rank) && rank < LIMIT_JOB_PROCS && rank >= b->size)
        b->size = rank + 1;
}

static void guess_size(struct smap *b)
{
    uint64_t mapped = 0;

    for (uint32_t i = 0; i < b->ranks.nodes; i++) {
        for (uint32_t k = b->ranks.at[i]; k < b->ranks.at[i + 1]; k++) {
            uint64_t end = (uint64_t)b->ranks.runs[k].first + b->ranks.runs[k].count;
            mapped = end > mapped ? end : mapped;
        }
    }
    if (mapped <= LIMIT_JOB_PROCS)
        b->size = (uint32_t)mapped;
    each_info(b, read_highest);
    if (b->n->nlocal > 0 && b->size < (uint32_t)b->n->nlocal)
        b->size = (uint32_t)b->n->nlocal;
}

/* Expected processes exist, whatever was registered. */
static void include_locals(struct smap *b)
{
    LIST_EACH(l, &b->n->locals)
    {
        uint32_t rank = LIST_OF(l, struct local, link)->rank;
        if (rank >= b->size)
            b->size = rank + 1;
    }
    if (b->size == 0)
        b->size = 1;
}

static void place(struct smap *b, uint32_t rank, uint32_t node)
{
    if (rank < b->size && node != SMAP_NOWHERE)
        b->node_of[rank] = node;
}

/* "0,1,4-7" */
static void place_list(struct smap *b, const char *list, uint32_t node)
{
    struct slice rest = slice_str(list);

    while (rest.len) {
        struct slice range = slice_trim(slice_cut(&rest, ','));
        struct slice first = slice_cut(&range, '-');
        uint32_t from, to;
        if (!slice_u32(first, &from))
            continue;
        if (!range.len || !slice_u32(range, &to))
            to = from;
        for (uint32_t r = from; r <= to && r < b->size; r++)
            place(b, r, node);
    }
}

static void place_map(struct smap *b)
{
    for (uint32_t i = 0; i < b->nodes.count; i++)
        add_node(b, b->nodes.names[i]);
    for (uint32_t i = 0; i < b->ranks.nodes && i < b->nnodes; i++) {
        for (uint32_t k = b->ranks.at[i]; k < b->ranks.at[i + 1]; k++) {
            const struct regex_run *run = &b->ranks.runs[k];
            for (uint32_t r = 0; r < run->count && run->first + r < b->size; r++)
                place(b, run->first + r, i);
        }
    }
}

static uint32_t node_of_group(struct smap *b, struct info_group g, bool make)
{
    const pmix_info_t *name = info_group_find(g, PMIX_HOSTNAME),
                      *id = info_group_find(g, PMIX_NODEID);
    uint32_t number;

    if (name && info_text(name))
        return make ? make_node(b, info_text(name)) : node_named(b, info_text(name));
    return id && info_number(id, &number) && number < b->nnodes ? number : SMAP_NOWHERE;
}

static void place_arrays(struct smap *b, const pmix_info_t *i)
{
    struct info_group g = info_group_of(i);
    const pmix_info_t *rank = info_group_find(g, PMIX_RANK),
                      *peers = info_group_find(g, PMIX_LOCAL_PEERS);
    const pmix_info_t *app = info_group_find(g, PMIX_APPNUM);
    uint32_t r, a;

    if (info_key_is(i, PMIX_NODE_INFO_ARRAY)) {
        uint32_t node = node_of_group(b, g, true);
        if (peers && info_text(peers))
            place_list(b, info_text(peers), node);
    } else if (info_key_is(i, PMIX_PROC_INFO_ARRAY) && rank && info_number(rank, &r) &&
               r < b->size) {
        if (b->node_of[r] == SMAP_NOWHERE)
            place(b, r, node_of_group(b, g, true));
        if (app && info_number(app, &a) && a < b->size) {
            b->app_of[r] = a;
            b->napps = a >= b->napps ? a + 1 : b->napps;
        }
    }
}

/* node1 and node1.site.org are the same machine. */
static bool same_host(const char *a, const char *b)
{
    size_t x = strcspn(a, "."), y = strcspn(b, ".");

    return !strcmp(a, b) || (x == y && !strncmp(a, b, x) && (!a[x] || !b[y]));
}

static void find_here_by_name(struct smap *b)
{
    for (uint32_t i = 0; i < b->nnodes && b->here == SMAP_NOWHERE; i++) {
        if (same_host(b->names[i], b->s->hostname))
            b->here = i;
    }
}

static uint32_t make_here(struct smap *b)
{
    if (b->here == SMAP_NOWHERE)
        b->here = make_node(b, b->s->hostname);
    return b->here;
}

/* Loose keys are about the host's own node. */
static void place_loose(struct smap *b, const pmix_info_t *i)
{
    uint32_t first;

    if (!info_key_is(i, PMIX_LOCAL_PEERS) || !info_text(i))
        return;
    if (b->here == SMAP_NOWHERE && sscanf(info_text(i), "%u", &first) == 1 && first < b->size)
        b->here = b->node_of[first];
    place_list(b, info_text(i), make_here(b));
}

static void place_locals(struct smap *b)
{
    LIST_EACH(l, &b->n->locals)
    {
        uint32_t rank = LIST_OF(l, struct local, link)->rank;
        if (b->here == SMAP_NOWHERE)
            b->here = b->node_of[rank];
        place(b, rank, make_here(b));
    }
}

bool smap_place(struct smap *b)
{
    each_info(b, read_shape);
    if (!b->has_size)
        guess_size(b);
    include_locals(b);
    if (b->size > LIMIT_JOB_PROCS)
        return false;
    b->node_of = arena_array(&b->plan.arena, b->size, sizeof *b->node_of);
    b->app_of = arena_array(&b->plan.arena, b->size, sizeof *b->app_of);
    if (!b->node_of || !b->app_of)
        return false;
    memset(b->node_of, 0xff, b->size * sizeof *b->node_of);
    memset(b->app_of, 0, b->size * sizeof *b->app_of);
    place_map(b);
    each_info(b, place_arrays);
    find_here_by_name(b);
    each_info(b, place_loose);
    place_locals(b);
    return arena_ok(&b->plan.arena);
}

void smap_place_rest(struct smap *b)
{
    bool all_here = b->n->nlocal < 0 || (uint32_t)b->n->nlocal >= b->size;
    uint32_t unknown = SMAP_NOWHERE;

    for (uint32_t r = 0; r < b->size; r++) {
        if (b->node_of[r] != SMAP_NOWHERE)
            continue;
        if (!all_here && unknown == SMAP_NOWHERE)
            unknown = make_node(b, "");
        b->node_of[r] = all_here ? make_here(b) : unknown;
    }
    if (b->here == SMAP_NOWHERE && b->nnodes == 1 && b->names[0][0])
        b->here = 0;
}

static bool fill_apps(struct smap *b)
{
    struct job_map *p = &b->plan;
    uint32_t n = b->napps ? b->napps : 1;
    static char *none[] = { NULL };

    p->apps = arena_array(&p->arena, n, sizeof *p->apps);
    if (!p->apps)
        return false;
    memset(p->apps, 0, n * sizeof *p->apps);
    p->napps = n;
    for (uint32_t a = 0; a < n; a++)
        p->apps[a] = (struct job_map_app){ .env = none, .first_rank = UINT32_MAX };
    for (uint32_t r = 0; r < b->size; r++) {
        struct job_map_app *app = &p->apps[b->app_of[r]];
        app->nprocs++;
        app->first_rank = r < app->first_rank ? r : app->first_rank;
    }
    for (uint32_t a = 0; a < n; a++) {
        if (!p->apps[a].nprocs)
            p->apps[a].first_rank = 0;
    }
    return true;
}

bool smap_fill(struct smap *b)
{
    struct job_map *p = &b->plan;

    p->nodes = arena_array(&p->arena, b->nnodes, sizeof *p->nodes);
    p->procs = arena_array(&p->arena, b->size, sizeof *p->procs);
    if (!p->nodes || !p->procs || !arena_ok(&p->arena))
        return false;
    p->nnodes = b->nnodes;
    p->nprocs = b->size;
    p->universe = b->universe ? b->universe : b->size;
    for (uint32_t i = 0; i < b->nnodes; i++)
        p->nodes[i] = (struct job_map_node){ .name = b->names[i] };
    for (uint32_t r = 0; r < b->size; r++) {
        struct job_map_node *node = &p->nodes[b->node_of[r]];
        p->procs[r] = (struct job_map_proc){
            .rank = r, .app = b->app_of[r], .node = b->node_of[r], .local_rank = node->nprocs++
        };
        node->slots = node->nprocs;
    }
    return fill_apps(b);
}
