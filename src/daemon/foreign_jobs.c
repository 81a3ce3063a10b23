/* foreign_jobs.c - see foreign_jobs.h. */
#include "daemon/foreign_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster/msg.h"
#include "core/input.h"
#include "core/job_map_pack.h"
#include "daemon/cluster_io.h"

static struct server *server_of(const struct foreign_jobs *f)
{
    return f->context->server;
}

static void notify_daemons(struct foreign_jobs *f, struct msg *m)
{
    if (f->context->cluster)
        cluster_io_send(f->context->cluster, m, MSG_EVERYBODY);
}

struct foreign_job *foreign_jobs_named(const struct foreign_jobs *f, struct slice nspace)
{
    LIST_EACH(l, &f->all)
    {
        struct foreign_job *j = LIST_OF(l, struct foreign_job, link);
        if (slice_is(nspace, j->job->nspace))
            return j;
    }
    return NULL;
}

/* ---- making and removing --------------------------------------------------------------------- */

static struct foreign_job *make(struct foreign_jobs *f, struct job_order *o)
{
    struct foreign_job *j = calloc(1, sizeof *j);

    if (!j)
        return NULL;
    list_init(&j->link);
    if (memfd_open_private(&j->store) == 0) {
        o->region = &j->store.region;
        j->job = server_job_order(server_of(f), o);
    }
    if (!j->job) {
        memfd_close(&j->store);
        free(j);
        return NULL;
    }
    list_append(&f->all, &j->link);
    return j;
}

/* As described by the map; the order says which number it has. */
static int add(struct foreign_jobs *f, struct slice nspace, struct slice packed,
               struct job_order *o, struct foreign_job **j_p, struct errmsg *err)
{
    struct job_map plan;
    char name[256];
    int rc = job_map_unpack(packed, &plan, err);

    if (rc == 0 && (nspace.len == 0 || nspace.len >= sizeof name || !plan.nprocs))
        rc = errmsg_set(err, 1, "another launcher has sent an invalid job");
    if (rc == 0) {
        snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(nspace));
        o->nspace = name;
        o->plan = &plan;
        o->parent = JOB_NO_RANK;
        o->here = JOB_NONE_HERE;
        o->follows = o->is_foreign = true;
        *j_p = make(f, o);
        rc = *j_p ? 0 : errmsg_set(err, -ENOMEM, "out of memory for a job of another launcher");
    }
    job_map_free(&plan);
    return rc;
}

static void drop(struct foreign_jobs *f, struct foreign_job *j)
{
    server_job_gone(server_of(f), j->job);
    memfd_close(&j->store);
    list_unlink(&j->link);
    free(j);
}

/* ---- the launcher ---------------------------------------------------------------------------- */

int foreign_jobs_add(struct foreign_jobs *f, struct slice nspace, struct slice plan, uint32_t from,
                     struct errmsg *err)
{
    struct job_order o = { .numbered = false };
    struct foreign_job *j;
    struct msg m = MSG_WITH(foreign_job, .nspace = nspace, .plan = plan);
    int rc = add(f, nspace, plan, &o, &j, err);

    if (rc)
        return rc;
    j->from = from;
    m.u.foreign_job.job = j->job->id;
    m.u.foreign_job.base = j->job->base;
    notify_daemons(f, &m);
    return 0;
}

void foreign_jobs_state(struct foreign_jobs *f, const struct job *j, uint32_t rank,
                        enum proc_event event, int code)
{
    uint32_t ranks[] = { rank }, events[] = { (uint32_t)event };
    int codes[] = { code }, pids[] = { 0 };
    struct msg m = MSG_WITH(proc_states, .job = j->id, .ranks = { ranks, 1 },
                            .events = { events, 1 }, .codes = { codes, 1 }, .pids = { pids, 1 });

    notify_daemons(f, &m);
    server_proc_state(server_of(f), j, rank, event, code, 0);
}

void foreign_jobs_values(struct foreign_jobs *f, const struct job *j, struct slice block)
{
    struct msg m = MSG_WITH(modex_ahead, .job = j->id, .block = block);

    notify_daemons(f, &m);
    server_deliver(server_of(f), INPUT(modex_ahead, .job = j->id, .block = block));
}

void foreign_jobs_connected(struct foreign_jobs *f, const struct job *j, bool on,
                            struct slice procs)
{
    struct msg m = MSG_WITH(proc_connect, .job = j->id, .on = on, .procs = procs);

    notify_daemons(f, &m);
    server_deliver(server_of(f), INPUT(proc_connect, .job = j->id, .on = on, .procs = procs));
}

void foreign_jobs_remove(struct foreign_jobs *f, struct foreign_job *j)
{
    struct msg m = MSG_WITH(foreign_gone, .job = j->job->id);

    notify_daemons(f, &m);
    drop(f, j);
}

/* ---- a daemon -------------------------------------------------------------------------------- */

static void on_job(struct foreign_jobs *f, const struct op_foreign_job *m)
{
    struct job_order o = { .numbered = true, .id = m->job, .base = m->base };
    struct foreign_job *j;
    struct errmsg err;

    if (add(f, m->nspace, m->plan, &o, &j, &err))
        log_error(f->context->log, "%s", err.text);
}

static void on_gone(struct foreign_jobs *f, uint32_t id)
{
    LIST_EACH(l, &f->all)
    {
        struct foreign_job *j = LIST_OF(l, struct foreign_job, link);
        if (j->job->id == id)
            drop(f, j);
    }
}

void foreign_jobs_receive(struct foreign_jobs *f, const struct msg *m)
{
    if (m->kind == MSG_foreign_job)
        on_job(f, &m->u.foreign_job);
    else if (m->kind == MSG_foreign_gone)
        on_gone(f, m->u.foreign_gone.job);
}

void foreign_jobs_open(struct foreign_jobs *f, const struct node_context *c)
{
    f->context = c;
    list_init(&f->all);
}

void foreign_jobs_close(struct foreign_jobs *f)
{
    if (!f->context)
        return;
    LIST_EACH(l, &f->all)
    drop(f, LIST_OF(l, struct foreign_job, link));
    f->context = NULL;
}
