/* server_space.c - namespaces of a server: turns the host's registrations into a job map and job
 * info.
 *
 * A host registers a job in as many calls as it likes, and in several dialects: maps as short
 * texts, arrays for nodes, applications and processes, loose keys about its own node.  Infos about
 * where the processes are make the job map; everything else becomes job info (core/host_info.h),
 * which clients get as it was registered.  The core's job is made once it is known which node is
 * ours, or when it is first needed.  Reading order: keeping the infos; the job map; job info;
 * processes. */
#include "lib/pmix/server/server_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/input.h"
#include "core/procmap.h"
#include "lib/pmix/api/regex.h"
#include "lib/pmix/values/value.h"
#include "server/pmix_info.h"
#include "server/pmix_value.h"
#include "wire/pmix_pack.h"

enum { NOWHERE = UINT32_MAX, PLAN_MEMORY = 1 << 30 };

struct told {
    struct list link;
    pmix_info_t info;
};

/* ---- finding --------------------------------------------------------------------------------- */

struct nspace *nspace_find(const struct pserver *s, const char *name)
{
    LIST_EACH(l, &s->spaces)
    {
        struct nspace *n = LIST_OF(l, struct nspace, link);
        if (!strncmp(n->name, name, PMIX_MAX_NSLEN))
            return n;
    }
    return NULL;
}

struct nspace *nspace_of(const struct pserver *s, const struct job *j)
{
    LIST_EACH(l, &s->spaces)
    {
        struct nspace *n = LIST_OF(l, struct nspace, link);
        if (j && n->job == j)
            return n;
    }
    return NULL;
}

static struct nspace *add_nspace(struct pserver *s, const char *name)
{
    struct nspace *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    strncpy(n->name, name, PMIX_MAX_NSLEN);
    n->nlocal = -1;
    n->store = MEMFD_NULL;
    list_init(&n->locals);
    list_init(&n->former);
    n->uid = s->told_uid;
    n->gid = s->told_gid;
    list_init(&n->infos);
    list_append(&s->spaces, &n->link);
    return n;
}

struct nspace *nspace_make(struct pserver *s, const char *name)
{
    struct nspace *n = nspace_find(s, name);

    return n ? n : add_nspace(s, name);
}

struct local *nspace_local(const struct nspace *n, uint32_t rank)
{
    LIST_EACH(l, &n->locals)
    {
        struct local *p = LIST_OF(l, struct local, link);
        if (p->rank == rank)
            return p;
    }
    return NULL;
}

bool nspace_rights(const struct nspace *n, uint32_t rank, uid_t *uid_p, gid_t *gid_p)
{
    const struct list *const lists[] = { &n->locals, &n->former };
    const struct local *found = NULL;

    for (size_t i = 0; i < 2; i++) {
        LIST_EACH(l, (struct list *)(uintptr_t)lists[i])
        {
            const struct local *p = LIST_OF(l, const struct local, link);
            if (p->rank != rank || (i == 0 && !p->cleanups))
                continue;
            if (found && (found->uid != p->uid || found->gid != p->gid))
                return false; /* that rank belonged to another user before */
            found = p;
        }
    }
    if (!found)
        return false;
    *uid_p = n->uid == NOT_TOLD ? found->uid : (uid_t)n->uid;
    *gid_p = n->gid == NOT_TOLD ? found->gid : (gid_t)n->gid;
    return true;
}

static void forget_told(struct nspace *n)
{
    LIST_EACH(l, &n->infos)
    {
        struct told *t = LIST_OF(l, struct told, link);
        list_unlink(l);
        PMIx_Info_destruct(&t->info);
        free(t);
    }
}

void nspace_leave(struct pserver *s, struct nspace *n)
{
    LIST_EACH(l, &n->locals)
    {
        struct local *p = LIST_OF(l, struct local, link);
        if (p->is_known)
            server_deliver(&s->server, INPUT(proc_state, .job = n->job->id, .rank = p->rank,
                                             .event = PROC_EVENT_EXIT));
    }
}

void nspace_free(struct pserver *s, struct nspace *n)
{
    if (n->job)
        server_deliver(&s->server, INPUT(job_gone, .job = n->job->id));
    memfd_close(&n->store);
    forget_told(n);
    LIST_EACH(l, &n->locals)
    free(LIST_OF(l, struct local, link));
    LIST_EACH(l, &n->former)
    free(LIST_OF(l, struct local, link));
    list_unlink(&n->link);
    free(n);
}

/* ---- the job map ----------------------------------------------------------------------------- */

/* A job map under construction. */
struct builder {
    struct pserver *s;
    struct nspace *n;
    struct job_map plan;
    uint32_t size;
    bool has_size;
    struct regex_nodes nodes;
    struct regex_ranks ranks;
    const char **names; /* of nodes */
    uint32_t nnodes, names_room;
    uint32_t *node_of, *app_of; /* by rank; NOWHERE */
    uint32_t napps;
    uint32_t here; /* NOWHERE: not known */
    uint32_t universe;
};

static bool key_is(const pmix_info_t *i, const char *key)
{
    return !strncmp(i->key, key, PMIX_MAX_KEYLEN);
}

static const char *text_of(const pmix_info_t *i)
{
    if (i->value.type == PMIX_STRING)
        return i->value.data.string;
    if (i->value.type == PMIX_REGEX)
        return i->value.data.bo.bytes;
    return NULL;
}

static bool number_of(const pmix_info_t *i, uint32_t *v_p)
{
    pmix_status_t rc;

    PMIX_VALUE_GET_NUMBER(rc, &i->value, *v_p, uint32_t);
    return rc == PMIX_SUCCESS;
}

/* Arrays of infos: the content of many keys. */
struct group {
    const pmix_info_t *list;
    size_t n;
};

static struct group group_of(const pmix_info_t *i)
{
    const pmix_data_array_t *a = i->value.type == PMIX_DATA_ARRAY ? i->value.data.darray : NULL;

    return a && a->type == PMIX_INFO && a->array ? (struct group){ a->array, a->size }
                                                 : (struct group){ NULL, 0 };
}

static const pmix_info_t *find_in(struct group g, const char *key)
{
    for (size_t i = 0; i < g.n; i++) {
        if (key_is(&g.list[i], key))
            return &g.list[i];
    }
    return NULL;
}

typedef void told_fn(struct builder *b, const pmix_info_t *i);

/* Visits every registered info, also within an array of the job's. */
static void each_told(struct builder *b, told_fn *fn)
{
    LIST_EACH(l, &b->n->infos)
    {
        const pmix_info_t *i = &LIST_OF(l, struct told, link)->info;
        struct group g = group_of(i);
        fn(b, i);
        for (size_t k = 0; key_is(i, PMIX_JOB_INFO_ARRAY) && k < g.n; k++)
            fn(b, &g.list[k]);
    }
}

static uint32_t node_named(struct builder *b, const char *name)
{
    for (uint32_t i = 0; i < b->nnodes; i++) {
        if (!strcmp(b->names[i], name))
            return i;
    }
    return NOWHERE;
}

static uint32_t add_node(struct builder *b, const char *name)
{
    if (b->nnodes == b->names_room) {
        uint32_t room = b->names_room ? 2 * b->names_room : 8;
        const char **names = arena_array(&b->plan.arena, room, sizeof *names);
        if (!names)
            return NOWHERE;
        if (b->nnodes)
            memcpy(names, b->names, b->nnodes * sizeof *names);
        b->names = names;
        b->names_room = room;
    }
    b->names[b->nnodes] = arena_str(&b->plan.arena, slice_str(name));
    return b->names[b->nnodes] ? b->nnodes++ : NOWHERE;
}

static uint32_t make_node(struct builder *b, const char *name)
{
    uint32_t at = node_named(b, name);

    return at != NOWHERE ? at : add_node(b, name);
}

/* Only the compressed form contains NULs, and it holds its own length. */
static struct slice map_slice(const char *text)
{
    return strncmp(text, "blob", 4) ? slice_str(text) : slice_mem(text, ptype_regex_size(text));
}

/* Reads sizes and maps, which everything else refers to. */
static void read_shape(struct builder *b, const pmix_info_t *i)
{
    const char *text = text_of(i);
    uint32_t number;

    if (key_is(i, PMIX_JOB_SIZE) && number_of(i, &number)) {
        b->size = number;
        b->has_size = true;
    } else if (key_is(i, PMIX_UNIV_SIZE) && number_of(i, &number)) {
        b->universe = number;
    } else if (key_is(i, PMIX_NODE_MAP) && text) {
        regex_read_nodes(&b->plan.arena, map_slice(text), &b->nodes);
    } else if (key_is(i, PMIX_NODE_LIST) && text && !b->nodes.count) {
        regex_read_nodes(&b->plan.arena, slice_str(text), &b->nodes);
    } else if (key_is(i, PMIX_PROC_MAP) && text) {
        regex_read_ranks(&b->plan.arena, map_slice(text), &b->ranks);
    }
}

/* Jobs without a registered size: the highest number mentioned anywhere. */
static void read_highest(struct builder *b, const pmix_info_t *i)
{
    const pmix_info_t *r = key_is(i, PMIX_PROC_INFO_ARRAY) ? find_in(group_of(i), PMIX_RANK) : NULL;
    uint32_t rank;

    if (r && number_of(r, &rank) && rank < LIMIT_JOB_PROCS && rank >= b->size)
        b->size = rank + 1;
}

static void guess_size(struct builder *b)
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
    each_told(b, read_highest);
    if (b->n->nlocal > 0 && b->size < (uint32_t)b->n->nlocal)
        b->size = (uint32_t)b->n->nlocal;
}

/* Expected processes exist, whatever was registered. */
static void include_locals(struct builder *b)
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

static void place(struct builder *b, uint32_t rank, uint32_t node)
{
    if (rank < b->size && node != NOWHERE)
        b->node_of[rank] = node;
}

/* "0,1,4-7" */
static void place_list(struct builder *b, const char *list, uint32_t node)
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

static void place_map(struct builder *b)
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

static uint32_t node_of_group(struct builder *b, struct group g, bool make)
{
    const pmix_info_t *name = find_in(g, PMIX_HOSTNAME), *id = find_in(g, PMIX_NODEID);
    uint32_t number;

    if (name && text_of(name))
        return make ? make_node(b, text_of(name)) : node_named(b, text_of(name));
    return id && number_of(id, &number) && number < b->nnodes ? number : NOWHERE;
}

static void place_arrays(struct builder *b, const pmix_info_t *i)
{
    struct group g = group_of(i);
    const pmix_info_t *rank = find_in(g, PMIX_RANK), *peers = find_in(g, PMIX_LOCAL_PEERS);
    const pmix_info_t *app = find_in(g, PMIX_APPNUM);
    uint32_t r, a;

    if (key_is(i, PMIX_NODE_INFO_ARRAY)) {
        uint32_t node = node_of_group(b, g, true);
        if (peers && text_of(peers))
            place_list(b, text_of(peers), node);
    } else if (key_is(i, PMIX_PROC_INFO_ARRAY) && rank && number_of(rank, &r) && r < b->size) {
        if (b->node_of[r] == NOWHERE)
            place(b, r, node_of_group(b, g, true));
        if (app && number_of(app, &a) && a < b->size) {
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

static void find_here_by_name(struct builder *b)
{
    for (uint32_t i = 0; i < b->nnodes && b->here == NOWHERE; i++) {
        if (same_host(b->names[i], b->s->hostname))
            b->here = i;
    }
}

static uint32_t make_here(struct builder *b)
{
    if (b->here == NOWHERE)
        b->here = make_node(b, b->s->hostname);
    return b->here;
}

/* Loose keys are about the host's own node. */
static void place_loose(struct builder *b, const pmix_info_t *i)
{
    uint32_t first;

    if (!key_is(i, PMIX_LOCAL_PEERS) || !text_of(i))
        return;
    if (b->here == NOWHERE && sscanf(text_of(i), "%u", &first) == 1 && first < b->size)
        b->here = b->node_of[first];
    place_list(b, text_of(i), make_here(b));
}

static void place_locals(struct builder *b)
{
    LIST_EACH(l, &b->n->locals)
    {
        uint32_t rank = LIST_OF(l, struct local, link)->rank;
        if (b->here == NOWHERE)
            b->here = b->node_of[rank];
        place(b, rank, make_here(b));
    }
}

/* Places the rest: here, if all processes are here; else on a node without a name. */
static void place_rest(struct builder *b)
{
    bool all_here = b->n->nlocal < 0 || (uint32_t)b->n->nlocal >= b->size;
    uint32_t unknown = NOWHERE;

    for (uint32_t r = 0; r < b->size; r++) {
        if (b->node_of[r] != NOWHERE)
            continue;
        if (!all_here && unknown == NOWHERE)
            unknown = make_node(b, "");
        b->node_of[r] = all_here ? make_here(b) : unknown;
    }
    if (b->here == NOWHERE && b->nnodes == 1 && b->names[0][0])
        b->here = 0;
}

static bool fill_apps(struct builder *b)
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

static bool fill_plan(struct builder *b)
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

static bool find_places(struct builder *b)
{
    each_told(b, read_shape);
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
    each_told(b, place_arrays);
    find_here_by_name(b);
    each_told(b, place_loose);
    place_locals(b);
    return arena_ok(&b->plan.arena);
}

/* ---- job info -------------------------------------------------------------------------------- */

/* Loose keys that are not the job's but its node's or its session's. */
static bool is_about_node(const char *key)
{
    static const char *const keys[] = {
        PMIX_HOSTNAME,          PMIX_HOSTNAME_ALIASES,   PMIX_NODEID,
        PMIX_NODE_SIZE,         PMIX_LOCAL_PEERS,        PMIX_LOCAL_PROCS,
        PMIX_LOCAL_CPUSETS,     PMIX_LOCAL_SIZE,         PMIX_LOCALLDR,
        PMIX_AVAIL_PHYS_MEMORY, PMIX_NODE_OVERSUBSCRIBED
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!strcmp(key, keys[i]))
            return true;
    }
    return false;
}

/* Keys that went into the job map, and those that mean nothing to a client (a NULL text says
 * that there is none). */
static bool is_shape(const pmix_info_t *i)
{
    return key_is(i, PMIX_NODE_MAP) || key_is(i, PMIX_PROC_MAP) || key_is(i, PMIX_JOB_INFO_ARRAY) ||
           key_is(i, PMIX_REGISTER_NODATA) || i->value.type == PMIX_POINTER ||
           i->value.type == PMIX_UNDEF || (i->value.type == PMIX_STRING && !i->value.data.string);
}

static int tell_fact(struct job *j, enum fact_about about, uint32_t index, const pmix_info_t *i)
{
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct slice value = pmix_canonical(&i->value, &bytes);
    int rc = 0;

    if (buf_ok(&bytes)) /* values that cannot be packed are left out */
        rc = host_info_tell(&j->facts, about, index, slice_str(i->key), i->value.type, value);
    buf_free(&bytes);
    return rc;
}

static int tell_group(struct job *j, enum fact_about about, uint32_t index, struct group g)
{
    int rc = 0;

    for (size_t i = 0; i < g.n && rc == 0; i++) {
        if (!is_shape(&g.list[i]))
            rc = tell_fact(j, about, index, &g.list[i]);
    }
    return rc;
}

static uint32_t plan_node_of(const struct job *j, struct group g)
{
    const pmix_info_t *name = find_in(g, PMIX_HOSTNAME), *id = find_in(g, PMIX_NODEID);
    uint32_t number;

    for (uint32_t i = 0; name && text_of(name) && i < j->plan.nnodes; i++) {
        if (!strcmp(j->plan.nodes[i].name, text_of(name)))
            return i;
    }
    return !name && id && number_of(id, &number) && number < j->plan.nnodes ? number : NOWHERE;
}

static int tell(struct job *j, uint32_t here, const pmix_info_t *i)
{
    struct group g = group_of(i);
    const pmix_info_t *which;
    uint32_t at;

    if (key_is(i, PMIX_JOB_INFO_ARRAY)) {
        int rc = 0;
        for (size_t k = 0; k < g.n && rc == 0; k++)
            rc = tell(j, here, &g.list[k]);
        return rc;
    }
    if (is_shape(i))
        return 0;
    if (key_is(i, PMIX_SESSION_INFO_ARRAY))
        return tell_group(j, FACT_SESSION, 0, g);
    if (key_is(i, PMIX_NODE_INFO_ARRAY)) {
        at = plan_node_of(j, g);
        return at == NOWHERE ? 0 : tell_group(j, FACT_NODE, at, g);
    }
    if (key_is(i, PMIX_APP_INFO_ARRAY)) {
        which = find_in(g, PMIX_APPNUM);
        if (!which)
            return tell_group(j, FACT_APP, 0, g);
        return number_of(which, &at) && at < j->plan.napps ? tell_group(j, FACT_APP, at, g) : 0;
    }
    if (key_is(i, PMIX_PROC_INFO_ARRAY)) {
        which = find_in(g, PMIX_RANK);
        return which && number_of(which, &at) && at < j->plan.nprocs
                   ? tell_group(j, FACT_RANK, at, g)
                   : 0;
    }
    if (is_about_node(i->key))
        return here == NOWHERE ? 0 : tell_fact(j, FACT_NODE, here, i);
    return tell_fact(j, FACT_JOB, 0, i);
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Keys that legacy clients ask for. */
static void preset(struct pserver *s, struct job *j)
{
    struct buf text = BUF_NULL(LIMIT_PMI_VALUE - 1);
    char size[24];

    procmap_of_plan(&j->plan, &text);
    if (buf_ok(&text))
        server_deliver(&s->server, INPUT(preset, .job = j->id, .key = SLICE("PMI_process_mapping"),
                                         .value = buf_slice(&text)));
    buf_free(&text);
    snprintf(size, sizeof size, "%lld", (long long)j->plan.universe);
    server_deliver(&s->server, INPUT(preset, .job = j->id, .key = SLICE("universeSize"),
                                     .value = slice_str(size)));
}

static void start_locals(struct pserver *s, struct nspace *n)
{
    LIST_EACH(l, &n->locals)
    {
        struct local *p = LIST_OF(l, struct local, link);
        if (!p->is_known && p->rank < n->job->plan.nprocs)
            server_deliver(&s->server,
                           INPUT(proc_state, .job = n->job->id, .rank = p->rank,
                                 .event = PROC_EVENT_STARTED, .pid = n->job->procs[p->rank].pid));
        p->is_known = true;
    }
}

static struct job *make_job(struct pserver *s, struct nspace *n, struct builder *b)
{
    if (memfd_open(&n->store) < 0 || memfd_reader(&n->store) < 0)
        return NULL;
    n->job = server_job_order(&s->server, &(struct job_order){ .nspace = n->name,
                                                               .plan = &b->plan,
                                                               .region = &n->store.region,
                                                               .parent = JOB_NO_RANK,
                                                               .keep_going = true,
                                                               .here = b->here,
                                                               .is_tool = n->is_tool });
    if (!n->job) {
        memfd_close(&n->store);
        return NULL;
    }
    LIST_EACH(l, &n->infos)
    {
        if (tell(n->job, b->here, &LIST_OF(l, struct told, link)->info) < 0)
            log_error(&s->log, "out of memory for the data of job %s", n->name);
    }
    forget_told(n);
    preset(s, n->job);
    start_locals(s, n);
    return n->job;
}

/* `needed`: what is known by now must suffice. */
static struct job *build(struct pserver *s, struct nspace *n, bool needed)
{
    struct builder b = { .s = s, .n = n, .here = NOWHERE };
    bool good;

    job_map_init(&b.plan);
    arena_init(&b.plan.arena, PLAN_MEMORY);
    good = find_places(&b);
    if (good && b.here == NOWHERE && !needed && n->nlocal != 0) {
        job_map_free(&b.plan);
        return NULL; /* the expected processes will make it known */
    }
    if (good)
        place_rest(&b);
    if (b.here == NOWHERE)
        b.here = JOB_NONE_HERE;
    good = good && fill_plan(&b);
    if (!good || !make_job(s, n, &b))
        log_error(&s->log, "job %s cannot be set up: out of memory, or too large", n->name);
    job_map_free(&b.plan);
    return n->job;
}

struct job *nspace_job(struct pserver *s, struct nspace *n)
{
    return n->job ? n->job : build(s, n, true);
}

void nspace_settle_all(struct pserver *s)
{
    LIST_EACH(l, &s->spaces)
    {
        struct nspace *n = LIST_OF(l, struct nspace, link);
        if (n->is_registered || n->is_own)
            nspace_job(s, n);
    }
}

/* Records whose rights are used for the job's files, if the host says so. */
static void note_rights(struct nspace *n, const pmix_info_t *i)
{
    struct group g = group_of(i);
    uint32_t id;

    if (key_is(i, PMIX_USERID) && number_of(i, &id))
        n->uid = id;
    else if (key_is(i, PMIX_GRPID) && number_of(i, &id))
        n->gid = id;
    else if (key_is(i, PMIX_JOB_INFO_ARRAY))
        for (size_t k = 0; k < g.n; k++)
            note_rights(n, &g.list[k]);
}

pmix_status_t nspace_tell(struct pserver *s, struct nspace *n, const pmix_info_t *infos,
                          size_t ninfos)
{
    uint32_t here = NOWHERE;

    for (size_t i = 0; i < ninfos; i++)
        note_rights(n, &infos[i]);
    for (size_t i = 0; !n->job && i < ninfos; i++) {
        struct told *t = calloc(1, sizeof *t);
        if (!t || PMIx_Info_xfer(&t->info, &infos[i]) != PMIX_SUCCESS) {
            free(t);
            return PMIX_ERR_NOMEM;
        }
        list_append(&n->infos, &t->link);
    }
    n->is_registered = true;
    if (!n->job) {
        build(s, n, false);
        return PMIX_SUCCESS;
    }
    if (n->job->here < n->job->plan.nnodes)
        here = n->job->here;
    for (size_t i = 0; i < ninfos; i++) {
        if (tell(n->job, here, &infos[i]) < 0)
            return PMIX_ERR_NOMEM;
    }
    pmix_job_info_changed(n->job);
    return PMIX_SUCCESS;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Files that it has registered are removed with its rights, also later.  Without memory, it
 * stays. */
static void keep_former(struct nspace *n, const struct local *p)
{
    struct local *former = p->cleanups ? malloc(sizeof *former) : NULL;

    if (!former)
        return;
    *former = *p;
    list_init(&former->link);
    list_append(&n->former, &former->link);
}

pmix_status_t nspace_expect(struct pserver *s, struct nspace *n, uint32_t rank, uid_t uid,
                            gid_t gid, void *object)
{
    struct local *p = nspace_local(n, rank);

    if (rank >= LIMIT_JOB_PROCS || (n->job && rank >= n->job->plan.nprocs))
        return PMIX_ERR_BAD_PARAM;
    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p)
            return PMIX_ERR_NOMEM;
        list_append(&n->locals, &p->link);
    }
    if (p->cleanups && (p->uid != uid || p->gid != gid)) {
        keep_former(n, p);
        p->cleanups = false;
    }
    p->space = n;
    p->rank = rank;
    p->uid = uid;
    p->gid = gid;
    p->object = object;
    if (n->job)
        start_locals(s, n);
    return PMIX_SUCCESS;
}

void nspace_forget(struct pserver *s, struct nspace *n, uint32_t rank)
{
    struct local *p = nspace_local(n, rank);

    if (!p)
        return;
    if (n->job && p->is_known)
        server_deliver(&s->server, INPUT(proc_state, .job = n->job->id, .rank = rank,
                                         .event = PROC_EVENT_EXIT));
    keep_former(n, p);
    list_unlink(&p->link);
    free(p);
}

/* Hosts give tools a common name, and ranks: each is nevertheless a job of its own. */
struct nspace *nspace_of_tool(struct pserver *s, const char *name, uint32_t rank)
{
    struct nspace *n = nspace_find(s, name);

    if ((n && !n->is_tool) || rank >= LIMIT_TOOL_RANK || !(n = add_nspace(s, name)))
        return NULL;
    n->is_tool = true;
    n->nlocal = 1;
    if (nspace_expect(s, n, rank, s->uid, s->gid, NULL) == PMIX_SUCCESS && nspace_job(s, n))
        return n;
    nspace_free(s, n);
    return NULL;
}
