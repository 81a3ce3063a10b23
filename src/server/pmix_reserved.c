/* pmix_reserved.c - see pmix_reserved.h: one row for each key.
 *
 * The value goes where clients look for it, as OpenPMIx's do: that of a process under its rank;
 * that of a node likewise if the process that was named is there, otherwise into the array of the
 * node. Only the name and the number of a node are in no array that OpenPMIx would search: those of
 * the own node are the job's.
 */
#include "server/pmix_reserved.h"

#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "server/pmix_info.h"
#include "server/pmix_value.h"

enum { TEXT_MAX = 1 << 20, NO_NODE = UINT32_MAX };

/* The subject of a request. */
struct key_query {
    const struct core *core;
    const struct job *job;
    const char *key;
    uint32_t rank, node; /* the rank may be none of the job's; NO_NODE */
};

/* Finds the value, in memory of its own.  False: there is none. */
typedef bool finder(const struct key_query *m, pmix_value_t *v);

/* ---- making values --------------------------------------------------------------------------- */

/* Takes the text over. */
static bool found_text(pmix_value_t *v, struct buf *text)
{
    *v = (pmix_value_t){ .type = PMIX_STRING, .data.string = buf_steal(text, NULL) };
    buf_free(text);
    return v->data.string;
}

/* Takes the items over. */
static bool found_array(pmix_value_t *v, uint16_t type, void *items, size_t n)
{
    pmix_data_array_t *a = items && n ? calloc(1, sizeof *a) : NULL;

    if (!a) {
        pmem_free(ptype_find(type), items, items ? n : 0, NULL);
        free(items);
        return false;
    }
    *a = (pmix_data_array_t){ .type = type, .array = items, .size = n };
    *v = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a };
    return true;
}

/* ---- values of a node ------------------------------------------------------------------------ */

/* The living processes of the job there; procs NULL: only their number. */
static size_t procs_on(const struct job *j, const char *node, pmix_proc_t *procs)
{
    size_t n = 0;

    for (uint32_t r = 0; r < j->plan.nprocs && !j->is_tool; r++) {
        if (strcmp(j->plan.nodes[j->plan.procs[r].node].name, node) != 0 ||
            j->procs[r].state == PROC_STATE_GONE)
            continue;
        if (procs)
            pmix_set_proc(&procs[n], j->nspace, r);
        n++;
    }
    return n;
}

static size_t all_procs_on(const struct core *c, const char *node, pmix_proc_t *procs)
{
    size_t n = 0;

    LIST_EACH(l, &c->jobs)
    n += procs_on(LIST_OF(l, struct job, link), node, procs ? procs + n : NULL);
    return n;
}

static bool find_local_procs(const struct key_query *m, pmix_value_t *v)
{
    const char *node = m->job->plan.nodes[m->node].name;
    size_t n = all_procs_on(m->core, node, NULL);
    pmix_proc_t *procs = calloc(n + 1, sizeof *procs);

    if (procs)
        all_procs_on(m->core, node, procs);
    return found_array(v, PMIX_PROC, procs, n);
}

/* In the order of PMIX_LOCAL_PEERS.  Only the node itself knows the processors. */
static bool find_local_cpusets(const struct key_query *m, pmix_value_t *v)
{
    struct buf all = BUF_NULL(TEXT_MAX);
    bool any = false;

    for (uint32_t r = 0, n = 0; r < m->job->plan.nprocs; r++) {
        const struct job_map_proc *p = &m->job->plan.procs[r];
        if (p->node != m->node || !job_rank_is_here(m->job, r))
            continue;
        buf_str(&all, n++ ? ":" : "");
        buf_str(&all, p->place && p->place->cpuset ? p->place->cpuset : "");
        any = any || p->place;
    }
    if (any)
        return found_text(v, &all);
    buf_free(&all);
    return false;
}

static bool find_node_value(const struct key_query *m, pmix_value_t *v)
{
    return pmix_node_value(m->job, m->node, m->key, v);
}

/* ---- values of a process --------------------------------------------------------------------- */

/* The bitmap of such a cpuset is its text: nothing here needs hwloc. */
static int text_of_cpuset(const pmix_cpuset_t *set, char **text_p)
{
    *text_p = strdup(set->bitmap);
    return *text_p ? PTYPE_FINE : PTYPE_NO_MEMORY;
}

static void free_cpuset(pmix_cpuset_t *set)
{
    free(set->source);
    free(set->bitmap);
    *set = (pmix_cpuset_t){ NULL, NULL };
}

static const struct ptype_foreign cpusets = { .cpuset_text = text_of_cpuset,
                                              .cpuset_free = free_cpuset };

static bool find_cpuset(const struct key_query *m, pmix_value_t *v)
{
    const struct job_map_place *p = m->job->plan.procs[m->rank].place;
    pmix_cpuset_t *set;

    if (!p || !p->cpuset || !job_rank_is_here(m->job, m->rank))
        return false;
    set = calloc(1, sizeof *set);
    if (!set)
        return false;
    *set = (pmix_cpuset_t){ .source = strdup("hwloc"), .bitmap = strdup(p->cpuset) };
    *v = (pmix_value_t){ .type = PMIX_PROC_CPUSET, .data.cpuset = set };
    if (set->source && set->bitmap)
        return true;
    pmem_value_free(v, &cpusets);
    return false;
}

static bool is_member(const struct pset *p, const struct job *j, uint32_t rank)
{
    for (size_t i = 0; i < p->n; i++) {
        if (!strcmp(p->members[i].nspace, j->nspace) &&
            (p->members[i].rank == rank || p->members[i].rank == PMIX_RANK_WILDCARD))
            return true;
    }
    return false;
}

static bool find_set_names(const struct key_query *m, pmix_value_t *v)
{
    size_t n = 0;
    char **names;

    LIST_EACH(l, &m->core->sets)
    n++;
    names = calloc(n + 1, sizeof *names);
    n = 0;
    LIST_EACH(l, &m->core->sets)
    {
        const struct pset *p = LIST_OF(l, struct pset, link);
        if (!names || !is_member(p, m->job, m->rank))
            continue;
        names[n] = strdup(p->name);
        n += names[n] != NULL;
    }
    return found_array(v, PMIX_STRING, names, n);
}

/* ---- values of the job ----------------------------------------------------------------------- */

/* They are long for large jobs, so nobody gets them unasked. */
static bool find_map(const struct key_query *m, pmix_value_t *v)
{
    return pmix_raw_map(m->job, m->key, v);
}

/* ---- the table ------------------------------------------------------------------------------- */

enum about { ABOUT_RANK, ABOUT_NODE, ABOUT_JOB };

static const struct row {
    const char *key;
    enum about about;
    finder *find;
} rows[] = {
    { PMIX_CPUSET_BITMAP, ABOUT_RANK, find_cpuset },
    { PMIX_NODE_MAP_RAW, ABOUT_JOB, find_map },
    { PMIX_PROC_MAP_RAW, ABOUT_JOB, find_map },
    { PMIX_PSET_NAMES, ABOUT_RANK, find_set_names },
    { PMIX_LOCAL_PROCS, ABOUT_NODE, find_local_procs },
    { PMIX_LOCAL_CPUSETS, ABOUT_NODE, find_local_cpusets },
    { PMIX_HOSTNAME, ABOUT_NODE, find_node_value },
    { PMIX_HOSTNAME_ALIASES, ABOUT_NODE, find_node_value },
    { PMIX_NODEID, ABOUT_NODE, find_node_value },
    { PMIX_AVAIL_PHYS_MEMORY, ABOUT_NODE, find_node_value },
    { PMIX_NODE_OVERSUBSCRIBED, ABOUT_NODE, find_node_value },
    { PMIX_LOCAL_PEERS, ABOUT_NODE, find_node_value },
    { PMIX_LOCALLDR, ABOUT_NODE, find_node_value },
    { PMIX_LOCAL_SIZE, ABOUT_NODE, find_node_value },
    { PMIX_NODE_SIZE, ABOUT_NODE, find_node_value },
};

static const struct row *row_of(struct slice key)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (slice_is(key, rows[i].key))
            return &rows[i];
    }
    return NULL;
}

/* ---- the node that is meant ------------------------------------------------------------------ */

static uint32_t own_node(const struct job *j)
{
    if (j->here < j->plan.nnodes)
        return j->here;
    return j->here == JOB_ALL_HERE && j->plan.nnodes == 1 ? 0 : NO_NODE;
}

static uint32_t node_named(const struct job *j, const char *name)
{
    for (uint32_t n = 0; n < j->plan.nnodes; n++) {
        if (!strcmp(j->plan.nodes[n].name, name))
            return n;
    }
    return NO_NODE;
}

static uint32_t node_of(const struct job *j, const struct pmsg_get *m)
{
    for (size_t i = 0; i < m->infos.n; i++) {
        const pmix_info_t *info = &m->infos.items[i];
        uint64_t number = pmix_number_of(&info->value);
        if (!strcmp(info->key, PMIX_NODEID) && pmix_is_number(&info->value))
            return number < j->plan.nnodes ? (uint32_t)number : NO_NODE;
        if (!strcmp(info->key, PMIX_HOSTNAME) && pmix_text_of(info))
            return node_named(j, pmix_text_of(info));
    }
    return m->rank < j->plan.nprocs ? j->plan.procs[m->rank].node : own_node(j);
}

/* ---- replies --------------------------------------------------------------------------------- */

/* The array of the node, with this value. */
static void put_node_array(struct ppack *w, const struct key_query *m, const pmix_value_t *v)
{
    pmix_info_t infos[3];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 3, .array = infos };
    pmix_value_t all = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    char *name = (char *)(uintptr_t)m->job->plan.nodes[m->node].name;

    memset(infos, 0, sizeof infos);
    strcpy(infos[0].key, PMIX_HOSTNAME);
    infos[0].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = name };
    strcpy(infos[1].key, PMIX_NODEID);
    infos[1].value = (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = m->node };
    strncpy(infos[2].key, m->key, PMIX_MAX_KEYLEN);
    infos[2].value = *v;
    ppack_kval(w, PMIX_NODE_INFO_ARRAY, &all);
}

static bool names_node(const char *key)
{
    return !strcmp(key, PMIX_HOSTNAME) || !strcmp(key, PMIX_NODEID);
}

static bool is_there(const struct key_query *m, enum about about)
{
    return m->rank < m->job->plan.nprocs &&
           (about != ABOUT_NODE || m->job->plan.procs[m->rank].node == m->node);
}

static void reply(struct pmix_session *s, uint32_t tag, const struct key_query *m, enum about about,
                  const pmix_value_t *v)
{
    struct pmsg_proc_values head = { .has = 0 };
    struct ppack w = pmix_writer(s), part = pmsg_part(&w, &s->scratch);
    bool there = is_there(m, about);

    part.foreign = &cpusets;
    pmsg_write_owned(&w, s->release, &(struct pmsg_owned){ .status = PMIX_SUCCESS });
    pmix_set_proc(&head.owner, m->job->nspace, there ? m->rank : PMIX_RANK_WILDCARD);
    pmsg_write_proc_values(&part, s->release, &head);
    if (there || about == ABOUT_JOB || (names_node(m->key) && m->node == own_node(m->job)))
        ppack_kval(&part, m->key, v);
    else
        put_node_array(&part, m, v);
    pmsg_add_owned_values(&w, &part);
    pmix_send_or_fail(s, tag, &w);
    buf_free(&s->scratch);
}

/* ---- distances, which the host finds out ----------------------------------------------------- */

static char *take_text(struct slice *rest)
{
    struct slice field = slice_cut(rest, '\0');

    return strndup(field.ptr ? field.ptr : "", field.len);
}

static uint64_t take_number(struct slice *rest)
{
    uint64_t n = 0;

    return slice_u64(slice_cut(rest, '\0'), &n) ? n : 0;
}

static bool take_devices(struct slice all, pmix_value_t *v)
{
    enum { FIELDS = 5 };
    pmix_device_distance_t *list;
    size_t n = 0;

    for (size_t i = 0; i < all.len; i++)
        n += all.ptr[i] == '\0';
    list = calloc(n / FIELDS + 1, sizeof *list);
    for (size_t i = 0; list && i < n / FIELDS; i++) {
        list[i].uuid = take_text(&all);
        list[i].osname = take_text(&all);
        list[i].type = take_number(&all);
        list[i].mindist = (uint16_t)take_number(&all);
        list[i].maxdist = (uint16_t)take_number(&all);
    }
    return found_array(v, PMIX_DEVICE_DIST, list, n / FIELDS);
}

static void reply_distances(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    const struct key_query m = { .job = s->base.peer->job,
                                 .key = PMIX_DEVICE_DISTANCES,
                                 .rank = p->rank };
    pmix_value_t v;

    if (a->status != ANSWER_OK || !take_devices(answer_to_job_attr(a).value, &v)) {
        pmix_reply_status(s, p->tag, PMIX_ERR_NOT_FOUND);
        return;
    }
    reply(s, p->tag, &m, ABOUT_RANK, &v);
    pmem_value_free(&v, &cpusets);
}

/* A process that is not bound has all processors. */
static bool ask_distances(struct command *c, const struct job *j, uint32_t rank)
{
    const struct job_map_place *place = rank < j->plan.nprocs ? j->plan.procs[rank].place : NULL;
    struct buf key = BUF_NULL(TEXT_MAX);
    struct pmix_pending *p;

    if (rank >= j->plan.nprocs || !job_rank_is_here(j, rank) || c->s->as->level < PTYPE_V4)
        return false;
    buf_printf(&key, CORE_DISTANCES "hwloc:%s", place && place->cpuset ? place->cpuset : "0-");
    c->reply = reply_distances;
    p = pmix_ask(c, REQUEST_WITH(job_attr, .key = pmix_keep(c, buf_slice(&key))));
    if (p)
        p->rank = rank;
    buf_free(&key);
    return true;
}

static bool has_subject(enum about about, const struct key_query *q)
{
    switch (about) {
    case ABOUT_RANK: return q->rank < q->job->plan.nprocs;
    case ABOUT_NODE: return q->node != NO_NODE;
    case ABOUT_JOB: break;
    }
    return true;
}

bool pmix_reply_reserved(struct command *c, const struct pmsg_get *m)
{
    const struct peer *p = c->s->base.peer;
    const struct row *row = row_of(m->key);
    bool distances = slice_is(m->key, PMIX_DEVICE_DISTANCES);
    struct job *j = row || distances ? pmix_job_of(c, m->nspace) : NULL;
    struct key_query q;
    pmix_value_t v;
    bool known;

    if (!j || j != p->job || !p->core->is_manager)
        return false;
    if (distances)
        return ask_distances(c, j, m->rank);
    q = (struct key_query){ p->core, j, row->key, m->rank, node_of(j, m) };
    if (!has_subject(row->about, &q) || !row->find(&q, &v))
        return false;
    known = v.type != PMIX_PROC_CPUSET || c->s->as->level >= PTYPE_V4; /* that type to the client */
    if (known)
        reply(c->s, c->tag, &q, row->about, &v);
    pmem_value_free(&v, &cpusets);
    return known;
}
