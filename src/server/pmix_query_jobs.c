/* pmix_query_jobs.c - see pmix_query_jobs.h, and pmix_findings.h: jobs, processes, slots. */
#include "server/pmix_query_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "server/node_part.h"
#include "server/pmix_findings.h"
#include "server/pmix_info.h"
#include "server/pmix_value.h"
#include "wire/pmix_mem.h"

enum { TEXT_MAX = 1 << 24 };

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool is_listed(const struct pmix_findings *f, const struct job *j)
{
    return !j->is_tool && pmix_sees_job(f->s, j);
}

void pmix_find_namespaces(struct pmix_findings *f, const char *key,
                          const struct query_subject *about)
{
    struct buf names = BUF_NULL(TEXT_MAX);

    (void)about;
    LIST_EACH(l, &f->s->base.peer->core->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (is_listed(f, j))
            buf_printf(&names, "%s%s", buf_len(&names) ? "," : "", j->nspace);
    }
    pmix_found_text(f, key, &names);
}

/* Of a job that runs, or has ended. */
void pmix_find_status(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    bool failed = about->ended_job ? about->ended_job->failed : about->job && about->job->failed;

    if (!about->ended_job && !about->job) {
        f->missed++;
        return;
    }
    info_array_add(&f->list, key,
                   (pmix_value_t){ .type = PMIX_STATUS,
                                   .data.status = failed ? PMIX_ERR_JOB_ABORTED : PMIX_SUCCESS });
}

static void add_command_line(struct info_array *l, char *const *argv)
{
    struct buf line = BUF_NULL(TEXT_MAX);
    const char *text;

    for (size_t i = 0; argv && argv[i]; i++)
        buf_printf(&line, "%s%s", i ? " " : "", argv[i]);
    text = buf_cstr(&line);
    if (text)
        info_array_text(l, PMIX_CMD_LINE, text);
    else
        l->no_memory = true;
    buf_free(&line);
}

static uint32_t app_size(const struct job *j, uint32_t app)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < j->plan.nprocs; r++)
        n += j->plan.procs[r].app == app;
    return n;
}

static void add_app(struct info_array *l, const struct job *j, uint32_t app)
{
    struct info_array one = { .items = NULL };

    info_array_u32(&one, PMIX_APPNUM, app);
    info_array_u32(&one, PMIX_APP_SIZE, app_size(j, app));
    add_command_line(&one, j->plan.apps[app].argv);
    info_array_infos(l, PMIX_APP_INFO_ARRAY, &one);
}

/* Name, size and program of a job; its programs, if there are several. */
static void add_job(struct info_array *l, const struct job *j)
{
    struct info_array one = { .items = NULL };

    info_array_text(&one, PMIX_NSPACE, j->nspace);
    add_command_line(&one, j->plan.napps ? j->plan.apps[0].argv : NULL);
    info_array_u32(&one, PMIX_JOB_SIZE, j->plan.nprocs);
    info_array_u32(&one, PMIX_JOB_NUM_APPS, j->plan.napps);
    for (uint32_t a = 0; j->plan.napps > 1 && a < j->plan.napps; a++)
        add_app(&one, j, a);
    info_array_infos(l, PMIX_JOB_INFO_ARRAY, &one);
}

void pmix_find_namespace_info(struct pmix_findings *f, const char *key,
                              const struct query_subject *about)
{
    struct info_array jobs = { .items = NULL };

    LIST_EACH(l, &f->s->base.peer->core->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (is_listed(f, j) && (!about->names_job || about->job == j))
            add_job(&jobs, j);
    }
    if (jobs.n || jobs.no_memory)
        info_array_infos(&f->list, key, &jobs);
    else
        f->missed++;
}

/* ---- processes ------------------------------------------------------------------------------- */

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

void pmix_describe_proc(pmix_proc_info_t *to, const struct job *j, uint32_t rank)
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

static bool is_on(const struct job *j, uint32_t rank, const char *host)
{
    return !host || !strcmp(host, j->plan.nodes[j->plan.procs[rank].node].name);
}

/* A node knows its own processes better than we do; of one that has no process number any more it
 * knows nothing. */
static void take_row(pmix_proc_info_t *to, const pmix_proc_info_t *row)
{
    if (row->pid > 0)
        to->pid = row->pid;
    to->state = row->state;
}

/* The places of the ranks in the table; UINT32_MAX: not in it. */
static void take_part(const struct job *j, pmix_proc_info_t *table, const uint32_t *places,
                      const pmix_info_t *part)
{
    const pmix_data_array_t *a =
        part->value.type == PMIX_DATA_ARRAY ? part->value.data.darray : NULL;

    for (size_t i = 0; a && a->type == PMIX_PROC_INFO && i < a->size; i++) {
        const pmix_proc_info_t *row = (const pmix_proc_info_t *)a->array + i;
        uint32_t rank = row->proc.rank;
        if (rank < j->plan.nprocs && places[rank] != UINT32_MAX &&
            !strcmp(row->proc.nspace, j->nspace))
            take_row(&table[places[rank]], row);
    }
}

/* NULL: no memory. */
static pmix_proc_info_t *make_table(const struct pmix_findings *f,
                                    const struct query_subject *about, bool local, uint32_t *n_p)
{
    const struct job *j = about->job;
    pmix_proc_info_t *table = calloc(j->plan.nprocs + (size_t)1, sizeof *table);
    uint32_t *places = calloc(j->plan.nprocs + (size_t)1, sizeof *places);
    uint32_t n = 0;

    for (uint32_t r = 0; table && places && r < j->plan.nprocs; r++) {
        bool wanted = about->rank == PMIX_RANK_WILDCARD || about->rank == r;
        places[r] = UINT32_MAX;
        if (!wanted || (local && !job_rank_is_here(j, r)) || !is_on(j, r, about->host))
            continue;
        places[r] = n;
        pmix_describe_proc(&table[n++], j, r);
    }
    for (const pmix_info_t *p = NULL;
         places && table && (p = pmix_next_part(f, NODE_PART_OF_PROCS, p));)
        take_part(j, table, places, p);
    free(places);
    *n_p = n;
    return table;
}

static void find_table(struct pmix_findings *f, const char *key, const struct query_subject *about,
                       bool local)
{
    pmix_proc_info_t *table;
    uint32_t n;

    if (!about->job) {
        f->missed++;
        return;
    }
    table = make_table(f, about, local, &n);
    info_array_items(&f->list, key, PMIX_PROC_INFO, table, n);
}

void pmix_find_table(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    find_table(f, key, about, about->local);
}

/* Of the requester's node, if no other is named. */
void pmix_find_local_table(struct pmix_findings *f, const char *key,
                           const struct query_subject *about)
{
    find_table(f, key, about, !about->host);
}

/* ---- one process ----------------------------------------------------------------------------- */

/* That is named; the requester, if none is.  False: nothing is known of its state. */
static bool find_proc(struct pmix_findings *f, const struct query_subject *about,
                      pmix_proc_state_t *state_p)
{
    const struct peer *p = f->s->base.peer;
    struct query_subject one = *about;
    pmix_proc_info_t *table;
    uint32_t n = 0;

    if (one.rank == PMIX_RANK_WILDCARD && one.job == p->job)
        one.rank = p->rank;
    if (!one.job || one.rank == PMIX_RANK_WILDCARD)
        return false;
    table = make_table(f, &one, false, &n);
    f->list.no_memory = f->list.no_memory || !table;
    *state_p = table && n == 1 ? table->state : PMIX_PROC_STATE_UNDEF;
    if (table)
        pmem_free(ptype_find(PMIX_PROC_INFO), table, n, NULL);
    free(table);
    return *state_p != PMIX_PROC_STATE_UNDEF;
}

void pmix_find_proc_state(struct pmix_findings *f, const char *key,
                          const struct query_subject *about)
{
    pmix_proc_state_t state;

    if (find_proc(f, about, &state))
        info_array_add(&f->list, key,
                       (pmix_value_t){ .type = PMIX_PROC_STATE, .data.state = state });
    else
        f->missed++;
}

/* Of one that has ended. */
void pmix_find_term_status(struct pmix_findings *f, const char *key,
                           const struct query_subject *about)
{
    static const struct {
        pmix_proc_state_t state;
        pmix_status_t status;
    } ends[] = { { PMIX_PROC_STATE_TERMINATED, PMIX_SUCCESS },
                 { PMIX_PROC_STATE_TERM_NON_ZERO, PMIX_ERR_EXIT_NONZERO_TERM },
                 { PMIX_PROC_STATE_ABORTED_BY_SIG, PMIX_ERR_PROC_ABORTED_BY_SIG } };
    pmix_proc_state_t state = PMIX_PROC_STATE_UNDEF;
    bool known = find_proc(f, about, &state);

    for (size_t i = 0; known && i < sizeof ends / sizeof *ends; i++) {
        if (state == ends[i].state) {
            info_array_add(&f->list, key,
                           (pmix_value_t){ .type = PMIX_STATUS, .data.status = ends[i].status });
            return;
        }
    }
    f->missed++;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The nodes with processes of the job, or the processes of each of these. */
void pmix_find_map(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    pmix_value_t v;

    if (about->job && pmix_raw_map(about->job, key, &v))
        info_array_add(&f->list, key, v);
    else
        f->missed++;
}

void pmix_find_peers(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct job *j = about->job;
    pmix_proc_t *peers = j ? calloc(j->plan.nprocs + (size_t)1, sizeof *peers) : NULL;
    size_t n = 0;

    for (uint32_t r = 0; peers && r < j->plan.nprocs; r++) {
        if (about->host ? is_on(j, r, about->host) : job_rank_is_here(j, r))
            pmix_set_proc(&peers[n++], j->nspace, r);
    }
    if (j)
        info_array_items(&f->list, key, PMIX_PROC, peers, n);
    else
        f->missed++;
}

void pmix_find_nodes(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct job *j = about->job;
    struct buf names = BUF_NULL(TEXT_MAX);

    if (!j) {
        f->missed++;
        return;
    }
    for (uint32_t n = 0; n < j->plan.nnodes; n++) {
        if (j->plan.nodes[n].nprocs)
            buf_printf(&names, "%s%s", buf_len(&names) ? "," : "", j->plan.nodes[n].name);
    }
    pmix_found_text(f, key, &names);
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* A node of the launcher, which knows best what it has and what is free. */
struct launcher_node {
    const char *name;
    uint32_t slots, free;
};

static bool read_node(const pmix_info_t *part, struct launcher_node *m)
{
    const pmix_value_t *slots = info_inside(part, PMIX_NUM_SLOTS);
    const pmix_value_t *left = info_inside(part, PMIX_QUERY_AVAILABLE_SLOTS);

    m->name = info_inside_text(part, PMIX_HOSTNAME);
    if (!m->name || !slots || slots->type != PMIX_UINT32 || !left || left->type != PMIX_UINT32)
        return false;
    m->slots = slots->data.uint32;
    m->free = left->data.uint32;
    return true;
}

/* at NULL: the first one. */
static const pmix_info_t *next_node(const struct pmix_findings *f, const pmix_info_t *at,
                                    struct launcher_node *m)
{
    while ((at = pmix_next_part(f, NODE_PART_OF_MEMBER, at)) && !read_node(at, m))
        ;
    return at;
}

/* Where no launcher tells of its nodes, this one has all processes. */
static uint64_t free_here(const struct core *c)
{
    const struct job *first = core_first_job(c);
    uint64_t slots = 0, used = core_running(c);

    for (uint32_t n = 0; first && n < first->plan.nnodes; n++)
        slots += first->plan.nodes[n].slots;
    return slots > used ? slots - used : 0;
}

void pmix_find_slots(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const pmix_info_t *at = NULL;
    uint64_t sum = 0;
    struct launcher_node m;

    (void)about;
    if (!next_node(f, NULL, &m))
        sum = free_here(f->s->base.peer->core);
    while ((at = next_node(f, at, &m)))
        sum += m.free;
    info_array_u32(&f->list, key, sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum);
}

static void add_allocated(struct info_array *nodes, const char *name, uint32_t number,
                          uint32_t slots)
{
    struct info_array one = { .items = NULL };

    info_array_text(&one, PMIX_HOSTNAME, name);
    info_array_u32(&one, PMIX_NODEID, number);
    info_array_u32(&one, PMIX_NUM_SLOTS, slots);
    info_array_infos(nodes, PMIX_NODE_INFO_ARRAY, &one);
}

/* The number of that node in the plan; the count: it is not there. */
static uint32_t node_named(const struct job_map *p, const char *name)
{
    uint32_t n = 0;

    while (n < p->nnodes && strcmp(p->nodes[n].name, name) != 0)
        n++;
    return n;
}

/* With the numbers that they have in the first job; further ones follow. */
static void add_members(const struct pmix_findings *f, const struct job_map *first,
                        struct info_array *nodes)
{
    uint32_t more = first ? first->nnodes : 0;
    struct launcher_node m;

    for (const pmix_info_t *at = NULL; (at = next_node(f, at, &m));) {
        uint32_t n = first ? node_named(first, m.name) : 0;
        add_allocated(nodes, m.name, first && n < first->nnodes ? n : more++, m.slots);
    }
}

/* As above: no launcher tells. */
static void add_planned(const struct job_map *first, struct info_array *nodes)
{
    for (uint32_t n = 0; n < first->nnodes; n++)
        add_allocated(nodes, first->nodes[n].name, n, first->nodes[n].slots);
}

/* The nodes that were allocated to the launcher. */
void pmix_find_allocation(struct pmix_findings *f, const char *key,
                          const struct query_subject *about)
{
    const struct job *first = core_first_job(f->s->base.peer->core);
    struct info_array nodes = { .items = NULL };

    (void)about;
    add_members(f, first ? &first->plan : NULL, &nodes);
    if (nodes.n == 0 && first)
        add_planned(&first->plan, &nodes);
    if (nodes.n || nodes.no_memory)
        info_array_infos(&f->list, key, &nodes);
    else
        f->missed++;
}
