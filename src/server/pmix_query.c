/* pmix_query.c - PMIx_Query_info: information on jobs, processes, groups and this server.
 *
 * Each key has one small function; an unknown value is NOT_FOUND, and some of several found is a
 * partial success.
 */
#include "server/pmix_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "server/pmix_calls.h"
#include "server/pmix_group.h"
#include "server/pmix_value.h"
#include "wire/pmix_command.h"

enum { TEXT_MAX = 1 << 24 };

/* The subject of a query, by its qualifiers. */
struct subject {
    struct job *job;                   /* NULL: unknown, or removed */
    const struct ended_job *ended_job; /* it has been removed */
    uint32_t rank;                     /* PMIX_RANK_WILDCARD: all */
    const char *group;                 /* or process set; NULL: none is named */
    bool functions;                    /* which functions there are, and not their attributes */
    struct slice host;                 /* of the process table; empty: all */
};

/* The results, with the keys' texts after the list. */
struct findings {
    struct pmix_session *s;
    pmix_info_t *list;
    size_t n, room;
    uint32_t missed;
    bool no_memory;
};

static void found(struct findings *f, const char *key, pmix_value_t v)
{
    if (f->n == f->room) {
        size_t room = f->room ? f->room * 2 : 8;
        pmix_info_t *more = realloc(f->list, room * sizeof *more);
        if (!more) {
            f->no_memory = true;
            pmem_value_free(&v, NULL);
            return;
        }
        f->list = more;
        f->room = room;
    }
    memset(&f->list[f->n], 0, sizeof *f->list);
    strncpy(f->list[f->n].key, key, PMIX_MAX_KEYLEN);
    f->list[f->n++].value = v;
}

/* Takes the buffer over. */
static void found_text(struct findings *f, const char *key, struct buf *text)
{
    const char *s = buf_cstr(text);
    pmix_value_t v = { .type = PMIX_STRING, .data.string = s ? strdup(s) : NULL };

    if (v.data.string)
        found(f, key, v);
    else
        f->no_memory = true;
    buf_free(text);
}

static void find_namespaces(struct findings *f, const char *key, const struct subject *about)
{
    struct buf names = BUF_NULL(TEXT_MAX);

    (void)about;
    LIST_EACH(l, &f->s->base.peer->core->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (j->is_tool)
            continue;
        if (buf_len(&names))
            buf_byte(&names, ',');
        buf_str(&names, j->nspace);
    }
    found_text(f, key, &names);
}

static void find_size(struct findings *f, const char *key, const struct subject *about)
{
    if (!about->job)
        f->missed++;
    else
        found(f, key,
              (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = about->job->plan.nprocs });
}

static void found_words(struct findings *f, const char *key, const char *words)
{
    struct buf text = BUF_NULL(TEXT_MAX);

    buf_str(&text, words);
    found_text(f, key, &text);
}

static pmix_proc_state_t state_of(const struct proc *p)
{
    switch (p->state) {
    case PROC_STATE_PLANNED: return PMIX_PROC_STATE_PREPPED;
    case PROC_STATE_RUNNING: return PMIX_PROC_STATE_RUNNING;
    case PROC_STATE_ATTACHED: return PMIX_PROC_STATE_CONNECTED;
    case PROC_STATE_LEAVING: return PMIX_PROC_STATE_RUNNING;
    case PROC_STATE_LOST: return PMIX_PROC_STATE_COMM_FAILED;
    default: break;
    }
    if (p->signalled)
        return PMIX_PROC_STATE_ABORTED_BY_SIG;
    return p->code ? PMIX_PROC_STATE_TERM_NON_ZERO : PMIX_PROC_STATE_TERMINATED;
}

static void describe(pmix_proc_info_t *to, const struct job *j, uint32_t rank)
{
    const struct job_map_proc *p = &j->plan.procs[rank];
    const struct job_map_app *app = &j->plan.apps[p->app];

    memset(to, 0, sizeof *to);
    pmix_set_proc(&to->proc, j->nspace, rank);
    to->hostname = strdup(j->plan.nodes[p->node].name);
    to->executable_name = strdup(app->argv ? app->argv[0] : "");
    to->pid = j->procs[rank].pid;
    to->exit_code = j->procs[rank].code;
    /* The state of ranks of other nodes is reported to the controlling node only. */
    if (j->follows && j->procs[rank].state == PROC_STATE_PLANNED && !job_rank_is_here(j, rank))
        to->state = PMIX_PROC_STATE_UNDEF;
    else
        to->state = state_of(&j->procs[rank]);
}

static bool is_on(const struct job *j, uint32_t rank, struct slice host)
{
    return host.len == 0 || slice_is(host, j->plan.nodes[j->plan.procs[rank].node].name);
}

static void find_table(struct findings *f, const char *key, const struct subject *about)
{
    const struct job *j = about->job;
    pmix_data_array_t *a = j ? calloc(1, sizeof *a) : NULL;
    pmix_proc_info_t *table = j ? calloc(j->plan.nprocs + (size_t)1, sizeof *table) : NULL;
    bool local = !strcmp(key, PMIX_QUERY_LOCAL_PROC_TABLE);

    if (!j) {
        f->missed++;
        return;
    }
    if (!a || !table) {
        f->no_memory = true;
        free(a);
        free(table);
        return;
    }
    a->type = PMIX_PROC_INFO;
    a->array = table;
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        bool wanted = about->rank == PMIX_RANK_WILDCARD || about->rank == r;
        if (wanted && (!local || job_rank_is_here(j, r)) && is_on(j, r, about->host))
            describe(&table[a->size++], j, r);
    }
    found(f, key, (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a });
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Of a job that runs, or has ended. */
static void find_status(struct findings *f, const char *key, const struct subject *about)
{
    pmix_status_t status = PMIX_SUCCESS;

    if (about->ended_job)
        status = about->ended_job->failed ? PMIX_ERR_JOB_ABORTED : PMIX_SUCCESS;
    else if (about->job)
        status = about->job->failed ? PMIX_ERR_JOB_ABORTED : PMIX_SUCCESS;
    else
        f->missed++;
    if (about->ended_job || about->job)
        found(f, key, (pmix_value_t){ .type = PMIX_STATUS, .data.status = status });
}

static bool load(pmix_info_t *info, const char *key, pmix_value_t v)
{
    memset(info, 0, sizeof *info);
    strncpy(info->key, key, PMIX_MAX_KEYLEN);
    info->value = v;
    return v.type != PMIX_STRING || v.data.string;
}

/* Takes the elements over. */
static void found_array(struct findings *f, const char *key, uint16_t type, void *items, size_t n)
{
    pmix_data_array_t *a = calloc(1, sizeof *a);

    if (!a) {
        f->no_memory = true;
        pmem_free(ptype_find(type), items, n, NULL);
        free(items);
        return;
    }
    *a = (pmix_data_array_t){ .type = type, .array = items, .size = n };
    found(f, key, (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a });
}

/* Name, size and program of a job. */
static bool describe_job(pmix_info_t *to, const struct job *j)
{
    pmix_data_array_t *a = calloc(1, sizeof *a);
    pmix_info_t *infos = calloc(3, sizeof *infos);
    const char *program = j->plan.napps && j->plan.apps[0].argv ? j->plan.apps[0].argv[0] : "";
    bool good;

    load(to, PMIX_JOB_INFO_ARRAY, (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a });
    if (!a || !infos) {
        free(infos);
        return false;
    }
    *a = (pmix_data_array_t){ .type = PMIX_INFO, .array = infos, .size = 3 };
    good = load(&infos[0], PMIX_NSPACE,
                (pmix_value_t){ .type = PMIX_STRING, .data.string = strdup(j->nspace) });
    good = load(&infos[1], PMIX_CMD_LINE,
                (pmix_value_t){ .type = PMIX_STRING, .data.string = strdup(program) }) &&
           good;
    load(&infos[2], PMIX_JOB_SIZE,
         (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = j->plan.nprocs });
    return good;
}

static void find_namespace_info(struct findings *f, const char *key, const struct subject *about)
{
    const struct list *jobs = &f->s->base.peer->core->jobs;
    pmix_info_t *infos;
    size_t n = 0;

    (void)about;
    LIST_EACH(l, jobs)
    n++;
    infos = calloc(n + 1, sizeof *infos);
    n = 0;
    LIST_EACH(l, jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (!j->is_tool && (!infos || !describe_job(&infos[n++], j)))
            f->no_memory = true;
    }
    found_array(f, key, PMIX_INFO, infos, n);
}

/* ---- resources ------------------------------------------------------------------------------- */

static void find_slots(struct findings *f, const char *key, const struct subject *about)
{
    const struct job *first = core_first_job(f->s->base.peer->core);
    uint64_t slots = 0, used = 0;

    (void)about;
    for (uint32_t n = 0; first && n < first->plan.nnodes; n++)
        slots += first->plan.nodes[n].slots;
    LIST_EACH(l, &f->s->base.peer->core->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        used += j->is_tool ? 0 : j->plan.nprocs - j->ended;
    }
    found(f, key,
          (pmix_value_t){ .type = PMIX_UINT32,
                          .data.uint32 = slots > used ? (uint32_t)(slots - used) : 0 });
}

/* In megabytes, as in the PMIx Standard. */
static void find_memory(struct findings *f, const char *key, const struct subject *about)
{
    uint64_t (*memory_of)(int pid) = f->s->base.peer->core->memory_of;
    pmix_info_t *infos = calloc(2, sizeof *infos);
    uint64_t bytes = 0, n = 0;

    if (!memory_of || !about->job || !infos) {
        f->missed++;
        free(infos);
        return;
    }
    for (uint32_t r = 0; r < about->job->plan.nprocs; r++) {
        const struct proc *p = &about->job->procs[r];
        if (p->pid <= 0 || p->state == PROC_STATE_GONE ||
            (about->rank != PMIX_RANK_WILDCARD && about->rank != r))
            continue;
        bytes += memory_of(p->pid);
        n++;
    }
    load(&infos[0], PMIX_DAEMON_MEMORY,
         (pmix_value_t){ .type = PMIX_FLOAT, .data.fval = (float)memory_of(0) / 1e6F });
    load(&infos[1], PMIX_CLIENT_AVG_MEMORY,
         (pmix_value_t){ .type = PMIX_FLOAT, .data.fval = (float)(n ? bytes / n : 0) / 1e6F });
    found_array(f, key, PMIX_INFO, infos, 2);
}

/* ---- groups and sets ------------------------------------------------------------------------- */

static void find_group_count(struct findings *f, const char *key, const struct subject *about)
{
    (void)about;
    found(f, key, (pmix_value_t){ .type = PMIX_SIZE, .data.size = f->s->ngroups });
}

static void find_group_names(struct findings *f, const char *key, const struct subject *about)
{
    struct buf names = BUF_NULL(TEXT_MAX);

    (void)about;
    LIST_EACH(l, &f->s->groups)
    {
        if (buf_len(&names))
            buf_byte(&names, ',');
        buf_str(&names, LIST_OF(l, struct pmix_group, link)->id);
    }
    found_text(f, key, &names);
}

static void find_group_members(struct findings *f, const char *key, const struct subject *about)
{
    LIST_EACH(l, &f->s->groups)
    {
        const struct pmix_group *g = LIST_OF(l, struct pmix_group, link);
        pmix_proc_t *members;
        if (!about->group || strcmp(g->id, about->group) != 0)
            continue;
        members = calloc(g->nprocs + 1, sizeof *members);
        if (!members) {
            f->no_memory = true;
            return;
        }
        memcpy(members, g->procs, g->nprocs * sizeof *members);
        found_array(f, key, PMIX_PROC, members, g->nprocs);
        return;
    }
    f->missed++;
}

static void find_set_count(struct findings *f, const char *key, const struct subject *about)
{
    size_t n = 0;

    (void)about;
    LIST_EACH(l, &f->s->base.peer->core->sets)
    n++;
    found(f, key, (pmix_value_t){ .type = PMIX_SIZE, .data.size = n });
}

static void find_set_names(struct findings *f, const char *key, const struct subject *about)
{
    struct buf names = BUF_NULL(TEXT_MAX);

    (void)about;
    LIST_EACH(l, &f->s->base.peer->core->sets)
    {
        if (buf_len(&names))
            buf_byte(&names, ',');
        buf_str(&names, LIST_OF(l, struct pset, link)->name);
    }
    found_text(f, key, &names);
}

static void find_set_members(struct findings *f, const char *key, const struct subject *about)
{
    const struct pset *p =
        about->group ? psets_find(&f->s->base.peer->core->sets, about->group) : NULL;
    pmix_proc_t *members = p ? calloc(p->n + 1, sizeof *members) : NULL;

    if (!p) {
        f->missed++;
        return;
    }
    if (!members) {
        f->no_memory = true;
        return;
    }
    for (size_t i = 0; i < p->n; i++)
        pmix_set_proc(&members[i], p->members[i].nspace, p->members[i].rank);
    found_array(f, key, PMIX_PROC, members, p->n);
}

/* ---- abilities of this server ---------------------------------------------------------------- */

static const char *const spawn_words =
    PMIX_WDIR "," PMIX_HOST "," PMIX_HOSTFILE "," PMIX_ADD_HOST "," PMIX_ADD_HOSTFILE "," PMIX_MAPBY
              "," PMIX_RANKBY "," PMIX_JOB_RECOVERABLE "," PMIX_JOB_CONTINUOUS;

static void find_spawn(struct findings *f, const char *key, const struct subject *about)
{
    (void)about;
    found_words(f, key, spawn_words);
}

static void find_uri(struct findings *f, const char *key, const struct subject *about)
{
    const char *uri = f->s->base.peer->core->uri;

    (void)about;
    if (uri)
        found_words(f, key, uri);
    else
        f->missed++;
}

static void find_abi_version(struct findings *f, const char *key, const struct subject *about)
{
    (void)about;
    found_words(f, key, PMIX_ABI_VERSION);
}

static const char *const qualifier_words =
    PMIX_NSPACE "," PMIX_PROCID "," PMIX_RANK "," PMIX_HOSTNAME "," PMIX_GROUP_ID "," PMIX_PSET_NAME
                "," PMIX_QUERY_REFRESH_CACHE "," PMIX_QUERY_LOCAL_ONLY;

static void find_qualifiers(struct findings *f, const char *key, const struct subject *about)
{
    (void)about;
    found_words(f, key, qualifier_words);
}

static bool describe_attr(pmix_regattr_t *to, const struct pmix_call_attr *a)
{
    to->name = strdup(a->name);
    strncpy(to->string, a->key, PMIX_MAX_KEYLEN);
    to->type = a->type;
    to->description = calloc(2, sizeof *to->description);
    if (to->description)
        to->description[0] = strdup("as in the PMIx Standard");
    return to->name && to->description && to->description[0];
}

static bool describe_call(pmix_info_t *to, const struct pmix_call *call)
{
    pmix_data_array_t *a = calloc(1, sizeof *a);
    pmix_regattr_t *attrs = calloc(call->nattrs, sizeof *attrs);
    bool good = true;

    load(to, call->name, (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a });
    if (!a || !attrs) {
        free(attrs);
        return false;
    }
    for (size_t i = 0; i < call->nattrs; i++)
        good = describe_attr(&attrs[i], &call->attrs[i]) && good;
    *a = (pmix_data_array_t){ .type = PMIX_REGATTR, .array = attrs, .size = call->nattrs };
    return good;
}

static void find_support(struct findings *f, const char *key, const struct subject *about)
{
    pmix_info_t *infos;
    size_t n = 0;
    struct buf names = BUF_NULL(TEXT_MAX);

    if (about->functions) { /* only their names are requested */
        for (size_t i = 0; i < PMIX_CALLS; i++) {
            buf_str(&names, i ? "," : "");
            buf_str(&names, pmix_calls[i].name);
        }
        found_text(f, PMIX_HOST_FUNCTIONS, &names);
        return;
    }
    infos = calloc(PMIX_CALLS, sizeof *infos);
    for (size_t i = 0; infos && i < PMIX_CALLS; i++) {
        if (pmix_calls[i].nattrs && !describe_call(&infos[n++], &pmix_calls[i]))
            f->no_memory = true;
    }
    f->no_memory = f->no_memory || !infos;
    found_array(f, key, PMIX_INFO, infos, n);
}

static void find_keys(struct findings *f, const char *key, const struct subject *about);

static const struct {
    const char *key;
    void (*find)(struct findings *f, const char *key, const struct subject *about);
} questions[] = {
    { PMIX_QUERY_NAMESPACES, find_namespaces },
    { PMIX_QUERY_NAMESPACE_INFO, find_namespace_info },
    { PMIX_QUERY_JOB_STATUS, find_status },
    { PMIX_JOB_SIZE, find_size },
    { PMIX_QUERY_PROC_TABLE, find_table },
    { PMIX_QUERY_LOCAL_PROC_TABLE, find_table },
    { PMIX_QUERY_AVAILABLE_SLOTS, find_slots },
    { PMIX_QUERY_MEMORY_USAGE, find_memory },
    { PMIX_QUERY_NUM_PSETS, find_set_count },
    { PMIX_QUERY_PSET_NAMES, find_set_names },
    { PMIX_QUERY_PSET_MEMBERSHIP, find_set_members },
    { PMIX_QUERY_NUM_GROUPS, find_group_count },
    { PMIX_QUERY_GROUP_NAMES, find_group_names },
    { PMIX_QUERY_GROUP_MEMBERSHIP, find_group_members },
    { PMIX_SERVER_URI, find_uri },
    { PMIX_QUERY_STABLE_ABI_VERSION, find_abi_version },
    { PMIX_QUERY_PROVISIONAL_ABI_VERSION, find_abi_version },
    { PMIX_QUERY_SPAWN_SUPPORT, find_spawn },
    { PMIX_QUERY_ATTRIBUTE_SUPPORT, find_support },
    { PMIX_QUERY_SUPPORTED_KEYS, find_keys },
    { PMIX_QUERY_SUPPORTED_QUALIFIERS, find_qualifiers },
};

static void find_keys(struct findings *f, const char *key, const struct subject *about)
{
    struct buf names = BUF_NULL(TEXT_MAX);

    (void)about;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (i)
            buf_byte(&names, ',');
        buf_str(&names, questions[i].key);
    }
    found_text(f, key, &names);
}

static void find(struct findings *f, const char *key, const struct subject *about)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (!strcmp(key, questions[i].key)) {
            questions[i].find(f, key, about);
            return;
        }
    }
    f->missed++;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void name_job(const struct command *c, struct subject *about, const char *name)
{
    about->job = pmix_job_of(c, slice_str(name));
    about->ended_job = about->job ? NULL : core_ended_job(c->s->base.peer->core, slice_str(name));
}

static struct subject subject_of(const struct command *c, const pmix_query_t *q)
{
    struct subject about = { .job = c->s->base.peer->job, .rank = PMIX_RANK_WILDCARD };

    if (about.job->is_tool) /* it asks which there are */
        about.job = core_first_job(c->s->base.peer->core);

    for (size_t i = 0; i < q->nqual; i++) {
        const char *key = q->qualifiers[i].key;
        const pmix_value_t *v = &q->qualifiers[i].value;
        const char *word = v->type == PMIX_STRING ? v->data.string : NULL;
        if (!strcmp(key, PMIX_NSPACE) && word) {
            name_job(c, &about, word);
        } else if (!strcmp(key, PMIX_PROCID) && v->type == PMIX_PROC && v->data.proc) {
            name_job(c, &about, v->data.proc->nspace);
            about.rank = v->data.proc->rank;
        } else if (!strcmp(key, PMIX_RANK) && v->type == PMIX_PROC_RANK) {
            about.rank = v->data.rank;
        } else if (!strcmp(key, PMIX_HOSTNAME) && word) {
            about.host = slice_str(word);
        } else if (!strcmp(key, PMIX_HOST_FUNCTIONS)) {
            about.functions = true;
        } else if ((!strcmp(key, PMIX_GROUP_ID) || !strcmp(key, PMIX_PSET_NAME)) && word) {
            about.group = word;
        }
    }
    return about;
}

static void reply_findings(struct command *c, const struct findings *f)
{
    struct pmsg_status_infos m = { .has = PMSG_BIT(status_infos, infos),
                                   .status = f->missed ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS,
                                   .infos = { f->n, f->list } };
    struct ppack w;

    if (f->n == 0) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
        return;
    }
    w = pmix_writer(c->s);
    pmsg_write_status_infos(&w, c->s->release, &m);
    pmix_send_or_fail(c->s, c->tag, &w);
}

static bool is_about_sets(const pmix_query_t *q)
{
    static const char *const keys[] = { PMIX_QUERY_NUM_PSETS, PMIX_QUERY_PSET_NAMES,
                                        PMIX_QUERY_PSET_MEMBERSHIP };
    size_t n = 0;

    for (char **key = q->keys; key && *key; key++, n++) {
        bool is = false;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            is = is || !strcmp(*key, keys[i]);
        if (!is)
            return false;
    }
    return n > 0;
}

bool pmix_asks_for_sets(const struct command *c)
{
    struct punpack r = c->r;
    struct pmsg_query m;
    bool is;

    if (list_empty(&c->s->base.peer->core->sets))
        return false;
    is = pmsg_read_query(&r, c->s->release, &m) == PTYPE_FINE && m.queries.n > 0;
    for (size_t i = 0; is && i < m.queries.n; i++)
        is = is_about_sets(&m.queries.items[i]);
    pmsg_free_query(&m, NULL);
    return is;
}

void pmix_read_query(struct command *c)
{
    struct findings f = { .s = c->s };
    struct pmsg_query m;

    pmsg_read_query(&c->r, c->s->release, &m);
    for (size_t i = 0; punpack_ok(&c->r) && i < m.queries.n; i++) {
        struct subject about = subject_of(c, &m.queries.items[i]);
        for (char **key = m.queries.items[i].keys; key && *key; key++)
            find(&f, *key, &about);
    }
    c->no_memory = c->no_memory || f.no_memory;
    if (punpack_ok(&c->r) && !c->no_memory)
        reply_findings(c, &f);
    pmix_drop_infos(f.list, f.n);
    pmsg_free_query(&m, NULL);
}
