/* node_failure.c - see node_failure.h.  Reading order: the reason; the consequences for jobs; the
 * loss. */
#include "daemon/node_failure.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/job_shutdown.h"
#include "daemon/dvm_exec.h"
#include "daemon/dvm_leases.h"
#include "daemon/node_parts.h"
#include "daemon/pending_query.h"
#include "daemon/preflight.h"
#include "daemon/cluster_io.h"
#include "daemon/spawning.h"
#include "daemon/local_job.h"
#include "daemon/startup_timing.h"
#include "daemon/trace_writer.h"

/* Why a daemon is lost, until it is reported. */
struct reason {
    struct list link;
    uint32_t position;
    char text[];
};

static struct reason *reason_of(const struct cluster_io *s, uint32_t position)
{
    LIST_EACH(l, &s->reasons)
    {
        struct reason *r = LIST_OF(l, struct reason, link);
        if (r->position == position)
            return r;
    }
    return NULL;
}

void node_failure_reason(struct cluster_io *s, uint32_t position, const char *why)
{
    size_t n = strlen(why);
    struct reason *r;

    if (!cluster_io_is_root(s) || router_is_lost(&s->router, position) || reason_of(s, position))
        return;
    r = calloc(1, sizeof *r + n + 1);
    if (!r)
        return;
    r->position = position;
    memcpy(r->text, why, n);
    list_append(&s->reasons, &r->link);
}

const char *node_failure_why(const struct cluster_io *s, const char *why)
{
    const struct node_config *c = s->context->config;
    const char *better = c->why_lost ? c->why_lost(c->arg) : NULL;

    return better ? better : why;
}

static bool has_ranks_at(const struct cluster_io *s, const struct job *j, uint32_t position)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (node_map_rank(&s->dispatch.map, j, r) == position &&
            j->procs[r].state != PROC_STATE_GONE)
            return true;
    }
    return false;
}

/* ---- the consequences for jobs --------------------------------------------------------------- */

/* It is the job's failure. */
static void blame(struct cluster_io *s, struct job *j, uint32_t position, const char *why)
{
    struct errmsg text;

    errmsg_set(&text, 0, "node %s is lost: %s", s->names[position], why);
    if (!j->keep_going) {
        server_abort(s->context->server, j, JOB_NO_RANK, 1, "%s", text.text);
        return;
    }
    server_job_failed(s->context->server, j, 1, slice_str(text.text));
    if (j->phase == JOB_RUNNING)
        job_shutdown_log(s->job_shutdown, &text); /* at the end the reason is an old one */
}

/* Its processes are gone with it, as far as we know. */
static void end_ranks(struct cluster_io *s, struct job *j, uint32_t position)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (node_map_rank(&s->dispatch.map, j, r) != position ||
            j->procs[r].state == PROC_STATE_GONE)
            continue;
        /* A process that could not be started ends every job; here it may have been so. */
        if (j->procs[r].state == PROC_STATE_PLANNED && j->phase == JOB_RUNNING)
            server_proc_state(s->context->server, j, r, PROC_EVENT_STARTED, 0, j->procs[r].pid);
        server_proc_state(s->context->server, j, r,
                          j->procs[r].state == PROC_STATE_PLANNED ? PROC_EVENT_NOT_STARTED
                                                                  : PROC_EVENT_DEATH,
                          SIGKILL, 0);
    }
    spawning_on_state(s->jobs, j);
}

void node_failure_ranks(struct cluster_io *s, struct job *j, uint32_t position, const char *why)
{
    if (why)
        blame(s, j, position, why);
    end_ranks(s, j, position);
}

static void lose_ranks(struct cluster_io *s, struct job *j, uint32_t position, const char *why)
{
    uint32_t node = node_map_node(&s->dispatch.map, j, position);
    bool known = node < j->plan.nnodes;

    if (!has_ranks_at(s, j, position) ||
        (known && replacing_begin(&s->replacing, j, node, position, why)))
        return;
    blame(s, j, position, why);
    if (known)
        server_node_down(s->context->server, j, node);
    end_ranks(s, j, position);
}

static void lose_in_jobs(struct cluster_io *s, uint32_t position, const char *why)
{
    if (launcher_state_is_alone(*s->context->state))
        return; /* the loss has ended the launch, and the daemon had nothing more to send */
    if (*s->context->state == LAUNCHER_STATE_LEAVING) { /* its remaining output is lost with it */
        if (!s->lost_late)                              /* nor of the daemons below it */
            log_error(
                s->context->log,
                "node %s is lost at the end of the job, and so is output of its processes: %s",
                s->names[position], why);
        s->lost_late = true;
        s->job_shutdown->exit_code = s->job_shutdown->exit_code ? s->job_shutdown->exit_code : 1;
        return;
    }
    LIST_EACH(l, &s->jobs->all)
    {
        struct local_job *w = LIST_OF(l, struct local_job, link);
        if (w->job->phase != JOB_ENDED && !w->job->is_tool)
            lose_ranks(s, w->job, position, why);
    }
    preflight_lost(s->jobs, position);
    startup_timing_lost(s->context->timing);
}

static void lose_at_launcher(struct cluster_io *s, uint32_t position)
{
    struct reason *r = reason_of(s, position);
    const char *why = node_failure_why(s, r ? r->text : NULL);

    log_info(s->context->log, "node %s is lost%s%s", s->names[position], why ? ": " : "",
             why ? why : "");
    trace_writer_lost(s->trace_writer, s->names[position], why);
    streams_cut(&s->streams, position);
    if (s->dvm_execs)
        dvm_execs_lost(s->dvm_execs, position);
    if (s->context->config->dvm_leases)
        dvm_leases_changed(s->context->config->dvm_leases);
    lose_in_jobs(s, position,
                 why ? why
                     : "it has lost its connection to the launcher and found no other in time");
    pending_query_lost(s->pending_queries, position); /* their reports show the loss */
    if (r)
        list_unlink(&r->link);
    free(r);
}

/* A daemon: the launcher decides about the job; here those processes are gone, unless it may
 * replace the node: then it says which are. */
static void lose_elsewhere(struct cluster_io *s, const struct placement *p, uint32_t position)
{
    struct job *j = p->replaces ? NULL : cluster_io_job(s, p->job);

    for (uint32_t r = 0; j && r < j->plan.nprocs; r++) {
        if (node_map_rank(&s->dispatch.map, j, r) == position &&
            j->procs[r].state != PROC_STATE_GONE)
            server_proc_state(cluster_io_server(s), j, r, PROC_EVENT_DEATH, SIGKILL, 0);
    }
}

void node_failure_position(struct cluster_io *s, uint32_t position)
{
    daemon_states_event(&s->daemons, position, DAEMON_EVENT_LOSE);
    dispatch_lost(&s->dispatch, position);
    if (cluster_io_is_root(s)) {
        lose_at_launcher(s, position);
    } else {
        LIST_EACH(l, &s->dispatch.map.placed)
        lose_elsewhere(s, LIST_OF(l, struct placement, link), position);
    }
    node_parts_lost(s->node_parts, position);
}

void node_failure_free(struct cluster_io *s)
{
    LIST_EACH(r, &s->reasons)
    {
        list_unlink(r);
        free(LIST_OF(r, struct reason, link));
    }
}
