/* pmix_info.c - job-level information for every process of a job, from its plan.
 *
 * The reply to a client's first command: KVALs of the job, one array per session, node and
 * application, and one blob per rank.  The same for all clients of one encoding, so it is packed
 * once and kept with the job.
 */
#include "server/pmix_info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/modex.h"
#include "pmix_common.h"
#include "server/pmix_value.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_ours.h"
#include "wire/pmix_message.h"
#include "wire/pmix_pack.h"
#include "wire/regex_write.h"
#include "core/job_kvs.h"
#include "wireup_client.h"

enum { INFO_ROOM = 16, INFO_MAX = 1 << 30, MAP_MAX = 4096, PLACING_WORDS = JOB_BIND_TO + 1 };

/* Values that borrow their texts: they are packed at once and never released. */
static pmix_value_t u32(uint32_t v)
{
    return (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = v };
}

static pmix_value_t u16(uint16_t v)
{
    return (pmix_value_t){ .type = PMIX_UINT16, .data.uint16 = v };
}

static pmix_value_t rank_value(uint32_t v)
{
    return (pmix_value_t){ .type = PMIX_PROC_RANK, .data.rank = v };
}

static pmix_value_t flag(bool v)
{
    return (pmix_value_t){ .type = PMIX_BOOL, .data.flag = v };
}

static pmix_value_t text(const char *v)
{
    return (pmix_value_t){ .type = PMIX_STRING, .data.string = (char *)(uintptr_t)v };
}

/* The subject of the information: facts of the host take precedence over computed values. */
struct subject {
    const struct job *job;
    enum fact_about about;
    uint32_t index;
};

static bool is_given(const struct subject *s, const char *key)
{
    return s->job->facts.count &&
           host_info_find(&s->job->facts, s->about, s->index, slice_str(key)) != NULL;
}

struct infos {
    const struct subject *about;
    pmix_info_t list[INFO_ROOM];
    size_t n;
};

static void add(struct infos *i, const char *key, pmix_value_t value)
{
    pmix_info_t *info = &i->list[i->n];

    if (is_given(i->about, key))
        return;
    i->n++;
    memset(info, 0, sizeof *info);
    strncpy(info->key, key, PMIX_MAX_KEYLEN);
    info->value = value;
}

static size_t count_facts(const struct fact *f)
{
    size_t n = 0;

    for (; f; f = f->next)
        n++;
    return n;
}

/* Appends facts as infos of their own. */
static size_t add_facts(pmix_info_t *all, size_t n, const struct fact *f, struct ppack *w)
{
    for (; f; f = f->next) {
        pmix_info_t *info = &all[n];
        if (f->key.len > PMIX_MAX_KEYLEN || !pmix_value_of(f->type, f->value, &info->value)) {
            w->error = PTYPE_NO_MEMORY;
            continue;
        }
        memcpy(info->key, f->key.ptr, f->key.len);
        n++;
    }
    return n;
}

static void put_infos(struct ppack *w, const char *key, pmix_info_t *list, size_t n)
{
    pmix_data_array_t array = { .type = PMIX_INFO, .size = n, .array = list };
    pmix_value_t v = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    ppack_kval(w, key, &v);
}

static void put_array(struct ppack *w, const char *key, struct infos *i)
{
    const struct fact *f = host_info_about(&i->about->job->facts, i->about->about, i->about->index);
    size_t own = i->n, n;
    pmix_info_t *all;

    if (!f) {
        put_infos(w, key, i->list, i->n);
        return;
    }
    all = calloc(own + count_facts(f), sizeof *all);
    if (!all) {
        w->error = PTYPE_NO_MEMORY;
        return;
    }
    memcpy(all, i->list, own * sizeof *all);
    n = add_facts(all, own, f, w);
    put_infos(w, key, all, n);
    pmem_free(ptype_find(PMIX_INFO), all + own, n - own, NULL);
    free(all);
}

/* Unless the host has given another value. */
static void put(struct ppack *w, const struct subject *s, const char *key, pmix_value_t v)
{
    if (!is_given(s, key))
        ppack_kval(w, key, &v);
}

static void put_facts(struct ppack *w, const struct subject *s)
{
    for (const struct fact *f = host_info_about(&s->job->facts, s->about, s->index); f; f = f->next)
        pmix_put_card(w, &(struct card){ .type = f->type, .key = f->key, .value = f->value });
}

/* A host need not give every process's node: processes that it left out lie on a node without a
 * name. */
static bool is_known(const struct job_map *p, uint32_t node)
{
    return p->nodes[node].name[0] != '\0';
}

static bool all_known(const struct job_map *p)
{
    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (!is_known(p, n))
            return false;
    }
    return true;
}

static void node_list(const struct job_map *p, struct buf *out)
{
    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (n)
            buf_byte(out, ',');
        buf_str(out, p->nodes[n].name);
    }
}

/* "0,2,5" for each node, in one pass over the ranks. */
static bool peer_lists(const struct job_map *p, struct buf *lists)
{
    for (uint32_t n = 0; n < p->nnodes; n++)
        buf_init(&lists[n], INFO_MAX);
    for (uint32_t r = 0; r < p->nprocs; r++) {
        struct buf *list = &lists[p->procs[r].node];
        if (buf_len(list))
            buf_byte(list, ',');
        buf_u64(list, r);
    }
    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (!buf_cstr(&lists[n]))
            return false;
    }
    return true;
}

static uint32_t slots_of(const struct job_map *p)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < p->nnodes; i++)
        n += p->nodes[i].slots;
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* PMIx cannot express "unlimited": then it is the slots of the job's nodes, or its processes if
 * those are more. */
static uint32_t universe(const struct job_map *p)
{
    uint32_t slots = slots_of(p);

    if (p->universe > 0 && p->universe <= UINT32_MAX)
        return (uint32_t)p->universe;
    return slots > p->nprocs ? slots : p->nprocs;
}

/* The nodes without processes have no place in either text. */
static void raw_map(const struct job_map *p, bool ranks, const struct buf *peers, struct buf *out)
{
    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (!p->nodes[n].nprocs)
            continue;
        if (buf_len(out))
            buf_byte(out, ranks ? ';' : ',');
        if (ranks)
            buf_slice_put(out, buf_slice(&peers[n]));
        else
            buf_str(out, p->nodes[n].name);
    }
}

bool pmix_raw_map(const struct job *j, const char *key, pmix_value_t *v_p)
{
    bool ranks = !strcmp(key, PMIX_PROC_MAP_RAW);
    struct buf *peers = calloc(j->plan.nnodes + (size_t)1, sizeof *peers), all = BUF_NULL(INFO_MAX);

    *v_p = (pmix_value_t){ .type = PMIX_STRING };
    if ((ranks || !strcmp(key, PMIX_NODE_MAP_RAW)) && all_known(&j->plan) && peers &&
        peer_lists(&j->plan, peers)) {
        raw_map(&j->plan, ranks, peers, &all);
        v_p->data.string = buf_len(&all) && buf_cstr(&all) ? buf_steal(&all, NULL) : NULL;
    }
    for (uint32_t n = 0; peers && n < j->plan.nnodes; n++)
        buf_free(&peers[n]);
    free(peers);
    buf_free(&all);
    return v_p->data.string;
}

/* How the job was placed, and by whom. */
static void put_placement(struct ppack *w, const struct subject *s)
{
    static const char *const keys[JOB_MAP_WORDS] = { [JOB_MAP_BY] = PMIX_MAPBY,
                                                     [JOB_RANK_BY] = PMIX_RANKBY,
                                                     [JOB_BIND_TO] = PMIX_BINDTO,
                                                     [JOB_CONNECTIVITY] = WIREUP_CONNECTIVITY };
    const struct core *c = s->job->core;

    for (int i = 0; i < JOB_MAP_WORDS; i++) {
        if (keys[i] && s->job->plan.words[i])
            put(w, s, keys[i], text(s->job->plan.words[i]));
    }
    if (c && c->name && *c->name) {
        put(w, s, PMIX_SERVER_NSPACE, text(c->name));
        put(w, s, PMIX_SERVER_RANK, rank_value(c->name_rank));
    }
}

/* The nodes and the processes of each, as short texts; not when they are long: every process gets
 * them, and the nodes' own information has it too. */
static void put_maps(struct ppack *w, const struct subject *s, const char *nodes,
                     const struct buf *peers)
{
    struct buf map = BUF_NULL(MAP_MAX), lists = BUF_NULL(INFO_MAX);
    struct slice map_text;

    regex_write_nodes(&map, slice_str(nodes));
    if (buf_cstr(&map) && all_known(&s->job->plan))
        put(w, s, PMIX_NODE_MAP, text(buf_cstr(&map)));
    buf_clear(&map);
    for (uint32_t n = 0; n < s->job->plan.nnodes; n++) {
        if (n)
            buf_byte(&lists, ';');
        buf_slice_put(&lists, buf_slice(&peers[n]));
    }
    regex_write_ranks(&map, buf_slice(&lists));
    if (buf_ok(&lists) && buf_cstr(&map))
        put(w, s, PMIX_PROC_MAP, text(buf_cstr(&map)));
    buf_free(&lists);
    buf_clear(&map);
    if (job_attr(s->job, SLICE("PMI_process_mapping"), &map_text) == ANSWER_OK) {
        buf_slice_put(&map, map_text);
        if (buf_cstr(&map))
            put(w, s, PMIX_ANL_MAP, text(buf_cstr(&map)));
    }
    buf_free(&map);
}

/* The process that has called PMIx_Spawn (or asked by another protocol).  Clients ask for both by
 * their own rank, or by that of the whole job. */
static void put_parent(struct ppack *w, const struct subject *s)
{
    pmix_proc_t parent;

    memset(&parent, 0, sizeof parent);
    strncpy(parent.nspace, s->job->parent_name, PMIX_MAX_NSLEN);
    parent.rank = s->job->parent_rank;
    put(w, s, PMIX_PARENT_ID, (pmix_value_t){ .type = PMIX_PROC, .data.proc = &parent });
    put(w, s, PMIX_SPAWNED, (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true });
}

/* The processes that a debugger's daemons are for. */
static void put_target(struct ppack *w, const struct subject *s)
{
    struct slice rest = slice_str(s->job->plan.target), rank = slice_cut(&rest, ':');
    pmix_proc_t target = { .rank = PMIX_RANK_WILDCARD };

    if (rest.len > PMIX_MAX_NSLEN)
        return;
    memcpy(target.nspace, rest.ptr, rest.len);
    slice_u32(rank, &target.rank);
    put(w, s, PMIX_DEBUG_TARGET, (pmix_value_t){ .type = PMIX_PROC, .data.proc = &target });
}

/* The job's nodes may be some of those. */
static void add_allocated(struct infos *i, const struct job_map *p, const char *nodes)
{
    const char *all = p->words[JOB_ALLOCATED];
    uint32_t n = 1;

    for (const char *c = all ? strchr(all, ',') : NULL; c; c = strchr(c + 1, ','))
        n++;
    add(i, PMIX_NUM_ALLOCATED_NODES, u32(all ? n : p->nnodes));
    add(i, PMIX_ALLOCATED_NODELIST, text(all ? all : nodes));
}

/* The allocation is the same for the job and its session. */
static void add_session(struct infos *i, uint32_t session, const struct job_map *p,
                        const char *nodes)
{
    add(i, PMIX_SESSION_ID, u32(session));
    add(i, PMIX_UNIV_SIZE, u32(universe(p)));
    add(i, PMIX_MAX_PROCS, u32(universe(p)));
    add(i, PMIX_NUM_SLOTS, u32(universe(p)));
    add(i, PMIX_RM_NAME, text("wireup"));
    add(i, PMIX_RM_VERSION, text(WIREUP_VERSION));
    if (p->words[JOB_CLUSTER])
        add(i, PMIX_CLUSTER_ID, text(p->words[JOB_CLUSTER]));
    if (!all_known(p))
        return;
    add(i, PMIX_NUM_NODES, u32(p->nnodes));
    add(i, PMIX_NODE_LIST, text(nodes));
    add_allocated(i, p, nodes);
}

static void put_job(struct ppack *w, const struct job *j, const char *nodes,
                    const struct buf *peers)
{
    const struct job_map *p = &j->plan;
    const struct subject job = { j, FACT_JOB, 0 }, session = { j, FACT_SESSION, 0 };
    struct infos i = { .about = &session };

    put(w, &job, PMIX_JOBID, text(j->nspace));
    put(w, &job, PMIX_JOB_SIZE, u32(p->nprocs));
    put(w, &job, PMIX_MAX_PROCS, u32(universe(p)));
    put(w, &job, PMIX_UNIV_SIZE, u32(universe(p)));
    put(w, &job, PMIX_JOB_NUM_APPS, u32(p->napps));
    if (all_known(p)) {
        put(w, &job, PMIX_NUM_NODES, u32(p->nnodes));
        put(w, &job, PMIX_NODE_LIST, text(nodes));
    }
    put(w, &job, PMIX_NPROC_OFFSET, rank_value(0));
    if (j->parent_name)
        put_parent(w, &job);
    if (p->target)
        put_target(w, &job);
    if (j->facts.count == 0) { /* a foreign host provides all that it wants known */
        put(w, &job, PMIX_NSPACE, text(j->nspace));
        put(w, &job, PMIX_SESSION_ID, u32(j->session));
        put(w, &job, PMIX_NUM_SLOTS, u32(slots_of(p)));
        put_maps(w, &job, nodes, peers);
        put(w, &job, PMIX_HOSTNAME_KEEP_FQDN, flag(true)); /* names are those of the node list */
        put_placement(w, &job);
    }
    put_facts(w, &job);
    add_session(&i, j->session, p, nodes);
    put_array(w, PMIX_SESSION_INFO_ARRAY, &i);
}

/* Whether it is the node of this server. */
static bool is_own_node(const struct job *j, uint32_t n)
{
    return j->here == n || (j->here == JOB_ALL_HERE && j->plan.nnodes == 1);
}

/* The other names of a node: the first part of one with a domain, and what this machine calls
 * itself; its own name if there are none. */
static void node_aliases(struct buf *out, const struct job *j, uint32_t n)
{
    struct slice name = slice_str(j->plan.nodes[n].name);
    struct slice first = slice_head(name, slice_find(name, '.'));
    const char *own = is_own_node(j, n) && j->core ? j->core->hostname : NULL;
    uint32_t number;

    if (own && !slice_is(name, own))
        buf_str(out, own);
    if (first.len < name.len && !slice_u32(first, &number) && !slice_is(first, own ? own : ""))
        buf_printf(out, "%s" SLICE_FMT, buf_len(out) ? "," : "", SLICE_ARG(first));
    if (!buf_len(out))
        buf_slice_put(out, name);
}

/* What a host of ours knows of a node besides. */
static void add_machine(struct infos *i, const struct job *j, uint32_t n, const char *aliases)
{
    const struct job_map_node *node = &j->plan.nodes[n];

    if (j->facts.count)
        return;
    if (aliases)
        add(i, PMIX_HOSTNAME_ALIASES, text(aliases));
    if (node->slots)
        add(i, PMIX_NODE_OVERSUBSCRIBED, flag(node->nprocs > node->slots));
    if (is_own_node(j, n) && j->core && j->core->memory)
        add(i, PMIX_AVAIL_PHYS_MEMORY,
            (pmix_value_t){ .type = PMIX_UINT64, .data.uint64 = j->core->memory });
}

static void add_node(struct infos *i, const struct job *j, uint32_t n, const char *peers,
                     const char *aliases)
{
    const struct job_map_node *node = &j->plan.nodes[n];

    add(i, PMIX_HOSTNAME, text(node->name));
    add(i, PMIX_NODEID, u32(n));
    add(i, PMIX_LOCAL_PEERS, text(peers));
    if (node->nprocs)
        add(i, PMIX_LOCALLDR, rank_value((uint32_t)strtoul(peers, NULL, 10)));
    add(i, PMIX_LOCAL_SIZE, u32(node->nprocs));
    add(i, PMIX_NODE_SIZE, u32(node->nprocs));
    add(i, PMIX_NUM_SLOTS, u32(node->slots));
    add(i, PMIX_MAX_PROCS, u32(node->slots));
    add_machine(i, j, n, aliases);
}

static void put_node(struct ppack *w, const struct job *j, uint32_t n, const char *peers)
{
    const struct subject s = { j, FACT_NODE, n };
    struct infos i = { .about = &s };
    struct buf aliases = BUF_NULL(MAP_MAX);

    node_aliases(&aliases, j, n);
    add_node(&i, j, n, peers, buf_cstr(&aliases));
    put_array(w, PMIX_NODE_INFO_ARRAY, &i);
    buf_free(&aliases);
}

static const pmix_info_t *find_info(const struct infos *i, const char *key)
{
    for (size_t k = 0; k < i->n; k++) {
        if (!strncmp(i->list[k].key, key, PMIX_MAX_KEYLEN))
            return &i->list[k];
    }
    return NULL;
}

static void list_peers(struct buf *out, const struct job_map *p, uint32_t n)
{
    for (uint32_t r = 0; r < p->nprocs; r++) {
        if (p->procs[r].node != n)
            continue;
        if (buf_len(out))
            buf_byte(out, ',');
        buf_u64(out, r);
    }
}

bool pmix_node_value(const struct job *j, uint32_t n, const char *key, pmix_value_t *v_p)
{
    const struct subject s = { j, FACT_NODE, n };
    struct buf aliases = BUF_NULL(MAP_MAX), peers = BUF_NULL(INFO_MAX);
    struct infos i = { .about = &s };
    const pmix_info_t *info;
    bool copied;

    list_peers(&peers, &j->plan, n);
    node_aliases(&aliases, j, n);
    add_node(&i, j, n, buf_len(&peers) ? buf_cstr(&peers) : "", buf_cstr(&aliases));
    info = find_info(&i, key);
    copied = info && pmem_copy(ptype_find(PMIX_VALUE), v_p, &info->value, 1, NULL) == PTYPE_FINE;
    buf_free(&aliases);
    buf_free(&peers);
    return copied;
}

static void join_words(struct buf *out, char *const *words)
{
    for (size_t i = 0; words && words[i]; i++) {
        if (i)
            buf_byte(out, ' ');
        buf_str(out, words[i]);
    }
}

/* Ranks of an application are consecutive, and so, mostly, are their nodes. */
static void app_nodes(struct buf *out, const struct job *j, uint32_t app)
{
    const struct job_map *p = &j->plan;
    uint32_t first = p->apps[app].first_rank, n = p->apps[app].nprocs;
    bool *seen = calloc(p->nnodes + (size_t)1, sizeof *seen);

    for (uint32_t r = first; seen && r < first + n && r < p->nprocs; r++) {
        uint32_t node = p->procs[r].node;
        if (seen[node])
            continue;
        seen[node] = true;
        if (buf_len(out))
            buf_byte(out, ',');
        buf_str(out, p->nodes[node].name);
    }
    free(seen);
}

/* The ranks of an application on each node that has some; not when it is long (put_maps()). */
static void app_map(struct buf *out, const struct job *j, uint32_t app)
{
    const struct job_map *p = &j->plan;
    uint32_t first = p->apps[app].first_rank, n = p->apps[app].nprocs;
    struct buf *lists = calloc(p->nnodes + (size_t)1, sizeof *lists), all = BUF_NULL(INFO_MAX);

    for (uint32_t i = 0; lists && i < p->nnodes; i++)
        buf_init(&lists[i], INFO_MAX);
    for (uint32_t r = first; lists && r < first + n && r < p->nprocs; r++)
        buf_printf(&lists[p->procs[r].node], "%s%u", buf_len(&lists[p->procs[r].node]) ? "," : "",
                   r);
    for (uint32_t i = 0; lists && i < p->nnodes; i++) {
        if (buf_len(&lists[i]))
            buf_printf(&all, "%s" SLICE_FMT, buf_len(&all) ? ";" : "",
                       SLICE_ARG(buf_slice(&lists[i])));
        buf_free(&lists[i]);
    }
    regex_write_ranks(out, buf_slice(&all));
    free(lists);
    buf_free(&all);
}

/* How an application was placed, of the words of several, "node : core"
 * (launch/placement_words.h); NULL: as the whole job. */
static const char *app_word(const struct job_map *p, const char *words, uint32_t app,
                            struct buf *room)
{
    static const char between[] = " : ";
    const char *at = p->napps > 1 && words && strstr(words, between) ? words : NULL;

    for (uint32_t i = 0; i < app && at; i++) {
        at = strstr(at, between);
        at = at ? at + strlen(between) : NULL;
    }
    if (!at)
        return NULL;
    buf_slice_put(
        room, slice_mem(at, strstr(at, between) ? (size_t)(strstr(at, between) - at) : strlen(at)));
    return buf_cstr(room);
}

/* The buffers, one for each of these words, have the texts. */
static void add_app_words(struct infos *i, const struct job *j, uint32_t app, struct buf *rooms)
{
    static const char *const keys[PLACING_WORDS] = {
        [JOB_MAP_BY] = PMIX_MAPBY, [JOB_RANK_BY] = PMIX_RANKBY, [JOB_BIND_TO] = PMIX_BINDTO
    };
    const char *word;

    for (int k = 0; k < PLACING_WORDS && !j->facts.count; k++) {
        word = app_word(&j->plan, j->plan.words[k], app, &rooms[k]);
        if (word)
            add(i, keys[k], text(word));
        if (k == JOB_MAP_BY && (word || j->plan.words[k]))
            add(i, PMIX_APP_MAP_TYPE, text(word ? word : j->plan.words[k]));
    }
}

/* What a host of ours knows of the places of an application. */
static void add_app_map(struct infos *i, const struct job *j, uint32_t app, struct buf *map)
{
    if (j->facts.count)
        return;
    app_map(map, j, app);
    if (buf_len(map) && buf_cstr(map))
        add(i, PMIX_APP_MAP_REGEX, text(buf_cstr(map)));
}

/* Texts about the hardware name the library that understands them. */
static void put_hwloc(struct ppack *w, const struct subject *s, const char *key, const char *what)
{
    struct buf all = BUF_NULL(MAP_MAX);

    buf_printf(&all, "hwloc:%s", what ? what : "");
    if (what && buf_cstr(&all))
        put(w, s, key, text(buf_cstr(&all)));
    buf_free(&all);
}

/* The processors and devices of a process of this node. */
static void put_cpus(struct ppack *w, const struct subject *s, const struct job_map_proc *p)
{
    if (p->devices && job_rank_is_here(s->job, p->rank))
        put(w, s, PMIX_DEVICE_ID, text(p->devices));
    if (!p->place || !job_rank_is_here(s->job, p->rank))
        return;
    put_hwloc(w, s, PMIX_CPUSET, p->place->cpuset);
    put_hwloc(w, s, PMIX_LOCALITY_STRING, p->place->locality);
    if (p->place->locality)
        put(w, s, PMIX_PACKAGE_RANK, u16((uint16_t)p->package_rank));
}

/* Where its processes start; NULL: not known.  The text may lie in `room`. */
static const char *start_dir(const struct job *j, const struct job_map_app *app, struct buf *room)
{
    if (app->flags & JOB_MAP_APP_SESSION && j->sessions) {
        buf_printf(room, "%s/%u", j->sessions, j->id);
        return buf_cstr(room);
    }
    return app->wdir ? app->wdir : j->wdir;
}

static void put_app(struct ppack *w, const struct job *j, uint32_t a)
{
    const struct job_map_app *app = &j->plan.apps[a];
    const struct subject s = { j, FACT_APP, a };
    struct infos i = { .about = &s };
    struct buf command = BUF_NULL(MAP_MAX), nodes = BUF_NULL(INFO_MAX), room = BUF_NULL(MAP_MAX),
               map = BUF_NULL(MAP_MAX);
    struct buf words[PLACING_WORDS] = { BUF_NULL(MAP_MAX), BUF_NULL(MAP_MAX), BUF_NULL(MAP_MAX) };
    const char *wdir = start_dir(j, app, &room);

    add(&i, PMIX_APPNUM, u32(a));
    add(&i, PMIX_APP_SIZE, u32(app->nprocs));
    add(&i, PMIX_APPLDR, rank_value(app->first_rank));
    add(&i, PMIX_MAX_PROCS, u32(app->nprocs));
    if (wdir)
        add(&i, PMIX_WDIR, text(wdir));
    join_words(&command, app->argv);
    if (buf_cstr(&command))
        add(&i, PMIX_APP_ARGV, text(buf_cstr(&command)));
    app_nodes(&nodes, j, a);
    if (buf_cstr(&nodes))
        add(&i, PMIX_NODE_LIST, text(buf_cstr(&nodes)));
    add_app_map(&i, j, a, &map);
    add_app_words(&i, j, a, words);
    put_array(w, PMIX_APP_INFO_ARRAY, &i);
    for (int k = 0; k < PLACING_WORDS; k++)
        buf_free(&words[k]);
    buf_free(&map);
    buf_free(&command);
    buf_free(&nodes);
    buf_free(&room);
}

static void put_apps(struct ppack *w, const struct job *j)
{
    for (uint32_t a = 0; a < j->plan.napps; a++)
        put_app(w, j, a);
}

static void put_place(struct ppack *w, const struct subject *s, const struct job_map_proc *p)
{
    if (!is_known(&s->job->plan, p->node))
        return;
    put(w, s, PMIX_LOCAL_RANK, u16((uint16_t)p->local_rank));
    put(w, s, PMIX_NODE_RANK, u16((uint16_t)p->local_rank));
    put(w, s, PMIX_HOSTNAME, text(s->job->plan.nodes[p->node].name));
    put(w, s, PMIX_NODEID, u32(p->node));
}

bool pmix_knows_restarts(const struct job *j, uint32_t rank)
{
    return !j->plan.apps[j->plan.procs[rank].app].restarts || job_rank_is_here(j, rank);
}

/* How much is told about a process: to a client that keeps a copy of it for every process, only
 * what differs between them and others ask for without asking the server; the rest is answered on
 * request (pmix_get.c).  Each value costs such a client about a microsecond, for each process of
 * the job. */
enum detail { DETAIL_ALL, DETAIL_AT_INIT, DETAIL_OF_PEERS };

static enum detail detail_of_peers(const struct job *j)
{
    return j->facts.count == 0 ? DETAIL_OF_PEERS : DETAIL_ALL;
}

static enum detail detail_of_own(const struct job *j)
{
    return j->facts.count == 0 ? DETAIL_AT_INIT : DETAIL_ALL;
}

/* What a client seldom gets of others; it gets its own. */
static void put_numbers(struct ppack *w, const struct subject *s, enum detail detail)
{
    const struct job *j = s->job;
    const struct job_map_proc *p = &j->plan.procs[s->index];
    bool differs = j->plan.napps > 1;

    if (detail != DETAIL_OF_PEERS) {
        put(w, s, PMIX_RANK, rank_value(s->index));
        /* Other hosts number their jobs' processes as they like. */
        put(w, s, PMIX_GLOBAL_RANK, rank_value(j->facts.count ? s->index : j->base + s->index));
    }
    if (detail == DETAIL_ALL || differs)
        put(w, s, PMIX_APP_RANK, rank_value(s->index - j->plan.apps[p->app].first_rank));
    if (detail != DETAIL_OF_PEERS || differs)
        put(w, s, PMIX_APPNUM, u32(p->app));
}

static void put_rank_info(struct ppack *w, const struct job *j, uint32_t rank, enum detail detail)
{
    const struct job_map_proc *p = &j->plan.procs[rank];
    const struct subject s = { j, FACT_RANK, rank };

    put_numbers(w, &s, detail);
    put_place(w, &s, p);
    if (detail == DETAIL_ALL && pmix_knows_restarts(j, rank))
        put(w, &s, PMIX_REINCARNATION, u32(j->procs[rank].restarts));
    put_cpus(w, &s, p);
    if (j->parent_name)
        put_parent(w, &s);
    put_facts(w, &s);
}

void pmix_put_places(struct ppack *w, const struct job *j, uint32_t rank)
{
    const struct subject s = { j, FACT_JOB, 0 };
    struct buf path = BUF_NULL(MAP_MAX);

    if (!j->sessions)
        return;
    buf_printf(&path, "%s/%u", j->sessions, j->id);
    put(w, &s, PMIX_TMPDIR, text(j->sessions));
    if (buf_cstr(&path))
        put(w, &s, PMIX_NSDIR, text(buf_cstr(&path)));
    put(w, &s, PMIX_TDIR_RMCLEAN, flag(true));
    buf_printf(&path, "/%u", rank);
    if (rank < j->plan.nprocs && job_rank_is_here(j, rank) && buf_cstr(&path))
        put(w, &s, PMIX_PROCDIR, text(buf_cstr(&path)));
    buf_free(&path);
}

/* Stops that it has not come to.  The first one cannot be ahead of a process that asks. */
static uint8_t stops_ahead(const struct job *j, uint32_t rank)
{
    uint8_t first = job_map_stop_bit(JOB_MAP_STOP_ON_EXEC);

    return j->plan.procs[rank].stops & (uint8_t) ~(j->procs[rank].ready | first);
}

bool pmix_stops(const struct job *j, uint32_t rank)
{
    return stops_ahead(j, rank) != 0;
}

void pmix_put_stops(struct ppack *w, const struct job *j, uint32_t rank)
{
    static const char *const keys[JOB_MAP_STOPS] = {
        [JOB_MAP_STOP_IN_INIT] = PMIX_DEBUG_STOP_IN_INIT,
        [JOB_MAP_STOP_IN_APP] = PMIX_DEBUG_STOP_IN_APP,
    };
    const struct subject s = { j, FACT_JOB, 0 };
    uint8_t stops = stops_ahead(j, rank);

    for (int i = 0; stops && i < JOB_MAP_STOPS; i++) {
        bool all = j->awaited[i] == j->plan.nprocs;
        if (stops & job_map_stop_bit((enum job_map_stop)i))
            put(w, &s, keys[i], rank_value(all ? PMIX_RANK_WILDCARD : rank));
    }
    if (stops && j->plan.breakpoint)
        put(w, &s, PMIX_BREAKPOINT, text(j->plan.breakpoint));
}

void pmix_put_rank_info(struct ppack *w, const struct job *j, uint32_t rank)
{
    put_rank_info(w, j, rank, DETAIL_ALL);
}

static void put_rank(struct ppack *w, const struct job *j, uint32_t rank, enum detail detail,
                     struct buf *blob)
{
    pmix_value_t v = { .type = PMIX_BYTE_OBJECT };
    struct ppack in;

    buf_clear(blob);
    ppack_init(&in, blob, w->as);
    in.described = w->described;
    pmsg_write_rank_values(&in, 0, &(struct pmsg_rank_values){ .rank = rank });
    put_rank_info(&in, j, rank, detail);
    v.data.bo.bytes = (char *)(uintptr_t)buf_slice(blob).ptr;
    v.data.bo.size = buf_len(blob);
    if (!ppack_ok(&in))
        w->error = in.error;
    ppack_kval(w, PMSG_RANK_VALUES, &v);
}

static void put_all(struct ppack *w, const struct job *j, enum detail detail, struct buf *peers)
{
    struct buf nodes = BUF_NULL(INFO_MAX), blob = BUF_NULL(1 << 20);
    const char *list;

    node_list(&j->plan, &nodes);
    list = buf_cstr(&nodes);
    if (list) {
        put_job(w, j, list, peers);
        for (uint32_t n = 0; n < j->plan.nnodes; n++) {
            if (is_known(&j->plan, n))
                put_node(w, j, n, buf_cstr(&peers[n]));
        }
        put_apps(w, j);
        for (uint32_t r = 0; r < j->plan.nprocs; r++)
            put_rank(w, j, r, detail, &blob);
    } else {
        w->error = PTYPE_NO_MEMORY;
    }
    buf_free(&nodes);
    buf_free(&blob);
}

static void make(struct job *j, const struct ptype_flavour *as, bool described, enum detail detail,
                 struct buf *out)
{
    struct buf *peers = calloc(j->plan.nnodes + (size_t)1, sizeof *peers);
    struct ppack w;

    buf_init(out, INFO_MAX);
    ppack_init(&w, out, as);
    w.described = described;
    if (peers && peer_lists(&j->plan, peers))
        put_all(&w, j, detail, peers);
    else
        w.error = PTYPE_NO_MEMORY;
    for (uint32_t n = 0; peers && n < j->plan.nnodes; n++)
        buf_free(&peers[n]);
    free(peers);
    if (!ppack_ok(&w))
        buf_free(out);
}

void pmix_put_own_info(struct ppack *w, const struct job *j, uint32_t rank)
{
    struct buf blob = BUF_NULL(1 << 20);

    if (detail_of_peers(j) == DETAIL_OF_PEERS)
        put_rank(w, j, rank, DETAIL_AT_INIT, &blob);
    buf_free(&blob);
}

struct slice pmix_job_info(struct job *j, const struct ptype_flavour *as, bool described)
{
    struct buf *kept = &j->wire_info[(as->fixed ? 0 : 1) + (described ? 2 : 0)];

    if (buf_len(kept) == 0)
        make(j, as, described, detail_of_peers(j), kept);
    return buf_slice(kept);
}

bool pmix_make_job_info(struct job *j)
{
    struct buf info;

    if (j->info_made)
        return true;
    make(j, ptype_flavour(SLICE("v41")), false, detail_of_own(j), &info);
    j->info_made =
        buf_len(&info) && job_put_info(j, SLICE(OURS_JOB_INFO), buf_slice(&info)) == ANSWER_OK;
    buf_free(&info);
    return j->info_made;
}

void pmix_job_info_changed(struct job *j)
{
    for (int i = 0; i < 4; i++)
        buf_free(&j->wire_info[i]);
    j->info_made = false;
}
