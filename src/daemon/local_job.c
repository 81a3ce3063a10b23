/* local_job.c - see local_job.h. */
#include "daemon/local_job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/procmap.h"
#include "daemon/cluster_io.h"
#include "daemon/cospawn.h"
#include "daemon/mpir.h"
#include "daemon/output.h"
#include "daemon/pending_query.h"
#include "daemon/prefork.h"
#include "daemon/spawn_limit.h"
#include "daemon/staging.h"
#include "daemon/supervisor.h"

struct local_job *local_job_of(const struct local_jobs *jobs, const struct job *job)
{
    LIST_EACH(l, &jobs->all)
    {
        struct local_job *w = LIST_OF(l, struct local_job, link);
        if (w->job == job)
            return w;
    }
    return NULL;
}

/* Legacy clients read at most LIMIT_PMI_VALUE bytes; a longer map is left out. */
static void preset_map(const struct local_jobs *jobs, struct job *job)
{
    struct buf text = BUF_NULL(LIMIT_PMI_VALUE - 1);

    procmap_of_plan(&job->plan, &text);
    if (buf_ok(&text))
        server_preset(jobs->context->server, job, SLICE("PMI_process_mapping"), buf_slice(&text));
    buf_free(&text);
}

void local_job_preset(const struct local_jobs *jobs, struct job *job)
{
    const struct node_config *c = jobs->context->config;
    struct server *s = jobs->context->server;
    char size[24];

    preset_map(jobs, job);
    snprintf(size, sizeof size, "%lld", (long long)job->plan.universe);
    server_preset(s, job, SLICE("universeSize"), slice_str(size));
    if (job->plan.words[JOB_CONNECTIVITY])
        server_preset(s, job, SLICE("PMI_connectivity"),
                      slice_str(job->plan.words[JOB_CONNECTIVITY]));
    if (c->memory_kinds)
        server_preset(s, job, SLICE("PMI_mpi_memory_alloc_kinds"), slice_str(c->memory_kinds));
    for (uint32_t i = 0; i < c->njob_attrs; i++)
        server_preset(s, job, c->job_attrs[i].key, c->job_attrs[i].value);
}

void local_job_next_name(const struct local_jobs *jobs, char *name, size_t room)
{
    static const char hex[] = "0123456789abcdef";
    char salt[9] = "";
    uint64_t r = clock_seed();

    for (int i = 0; i < 8; i++, r >>= 4)
        salt[i] = hex[r & 15];
    snprintf(name, room, "kvs_%d_%u_%s_%.60s", (int)getpid(), jobs->context->server->core.next_job,
             salt, jobs->context->config->name);
}

struct local_job *local_job_new(struct local_jobs *jobs, struct job_order *o, bool is_private)
{
    struct local_job *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->jobs = jobs;
    list_init(&w->link);
    list_init(&w->unloaded.all);
    if ((is_private ? memfd_open_private : memfd_open)(&w->store) == 0) {
        o->region = &w->store.region;
        w->job = server_job_order(jobs->context->server, o);
    }
    if (!w->job) {
        memfd_close(&w->store);
        free(w);
        return NULL;
    }
    list_append(&jobs->all, &w->link);
    return w;
}

int local_job_no_memory(const struct job_map *plan, struct errmsg *err)
{
    struct rlimit length;

    if (getrlimit(RLIMIT_FSIZE, &length) == 0 && length.rlim_cur != RLIM_INFINITY)
        return errmsg_set(
            err, -ENOMEM,
            "no memory for a job of %u processes: its values are in a file of memory, "
            "and files may have %llu bytes (ulimit -f)",
            plan->nprocs, (unsigned long long)length.rlim_cur);
    return errmsg_set(err, -ENOMEM, "out of memory for a job of %u processes", plan->nprocs);
}

struct local_job *local_job_lead(struct local_jobs *jobs, struct job_map *plan,
                                 const struct job *parent, uint32_t parent_rank, bool keep_going,
                                 struct errmsg *err)
{
    const struct cluster_io *s = jobs->context->cluster;
    const uint32_t *positions = s ? node_map_of_plan(&s->router, s->names, plan, err) : NULL;
    struct job_order o = { .plan = plan,
                           .parent = JOB_NO_RANK,
                           .parent_rank = parent_rank,
                           .keep_going = keep_going,
                           .here = JOB_ALL_HERE,
                           .is_adopted = !parent && jobs->adopts,

                           .session = jobs->session };
    char name[160];
    struct local_job *w;

    jobs->session = 0;
    if (s && !positions)
        return NULL;
    if (positions)
        o.here = node_map_here(positions, plan->nnodes, 0);
    if (parent && parent->is_tool) /* not a child: MPI would look for its parent */
        o.is_asked = true;
    else if (parent)
        o.parent = parent->id;
    if (jobs->given_name)
        snprintf(name, sizeof name, "%.120s", jobs->given_name);
    else
        local_job_next_name(jobs, name, sizeof name);
    jobs->given_name = NULL;
    o.nspace = name;
    w = local_job_new(jobs, &o, o.here == JOB_NONE_HERE);
    if (!w) {
        local_job_no_memory(plan, err);
        return NULL;
    }
    w->positions = positions;
    w->job->begun_ns = clock_now_ns();
    if (jobs->queries)
        pending_queries_lead(jobs->queries, w->job->id);
    local_job_preset(jobs, w->job);
    if (w->job->plan.output.raw)
        output_relay_raw(jobs->context->output);
    return w;
}

int local_job_plan_others(const struct local_jobs *jobs, struct job_map *p, uint32_t count)
{
    job_map_init(p);
    p->napps = p->nnodes = 1;
    p->nprocs = count;
    p->apps = arena_array(&p->arena, 1, sizeof *p->apps);
    p->nodes = arena_array(&p->arena, 1, sizeof *p->nodes);
    p->procs = arena_array(&p->arena, count, sizeof *p->procs);
    if (!arena_ok(&p->arena))
        return -ENOMEM;
    p->apps[0].nprocs = count;
    p->apps[0].env = environ;
    p->nodes[0] =
        (struct job_map_node){ .name = arena_str(&p->arena, slice_str(jobs->context->config->name)),
                               .slots = count,
                               .nprocs = count };
    for (uint32_t r = 0; r < count; r++)
        p->procs[r] = (struct job_map_proc){ .rank = r, .local_rank = r };
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

void local_job_step(struct local_job *w, enum local_job_event event)
{
    if (local_job_state_event(&w->state, event, w->jobs->context->log) == LOCAL_JOB_ACTION_start)
        local_jobs_start(w->jobs);
}

void local_job_adopt(struct local_job *w)
{
    w->next = w->job->plan.nprocs;
    local_job_step(w, LOCAL_JOB_EVENT_ADOPT);
}

static void take_down(struct local_job *w, void (*end)(struct memfd *))
{
    timer_stop(&w->grace);
    staging_end(w);
    prefork_close(w);
    spawn_limit_forget(w);
    server_job_gone(w->jobs->context->server, w->job);
    end(&w->store);
    list_unlink(&w->link);
    unloaded_free(&w->unloaded);
    free(w->codes);
    free(w->awaited);
    rank_set_free(&w->entered);
    free(w);
}

void local_job_free(struct local_job *w)
{
    take_down(w, memfd_close);
}

void local_jobs_open(struct local_jobs *jobs, const struct node_context *c)
{
    jobs->context = c;
    list_init(&jobs->all);
    list_init(&jobs->cospawns);
}

void local_jobs_close(struct local_jobs *jobs)
{
    timer_stop(&jobs->starter);
    LIST_EACH(l, &jobs->all)
    take_down(LIST_OF(l, struct local_job, link), memfd_leave);
    LIST_EACH(k, &jobs->cospawns)
    cospawn_free(LIST_OF(k, struct cospawn, link));
}

bool local_job_is_fed(const struct local_jobs *jobs, const struct job *j, uint32_t rank)
{
    const struct local_job *w = local_job_of(jobs, j);

    return w &&
           (w->push_to == NODE_STDIN_ALL || (w->push_to == NODE_STDIN_ONE && w->push_rank == rank));
}

void local_job_list(struct local_job *w)
{
    const struct job *j = w->job;
    const struct node_config *config = w->jobs->context->config;
    int control_fd = config->control_fd;

    if (w->listed || j->follows || j->is_tool || j->is_adopted || control_fd < 0 ||
        j->started < j->plan.nprocs)
        return;
    w->listed = true;
    if (config->started)
        config->started(config->arg, j);
    if (mpir_add(j))
        supervisor_debug(control_fd, j->awaited[JOB_MAP_STOP_ON_EXEC]);
}

void local_jobs_places(const struct local_jobs *jobs, struct buf *out)
{
    LIST_EACH(l, &jobs->all)
    {
        const struct job *j = LIST_OF(l, struct local_job, link)->job;
        if (j->follows || j->is_tool || j->phase == JOB_ENDED)
            continue;
        for (uint32_t n = 0; n < j->plan.nnodes; n++)
            buf_printf(out, " %s %u", j->plan.nodes[n].name, j->plan.nodes[n].nprocs);
    }
}
