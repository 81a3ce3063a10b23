/* control.c - see control.h.  Reading order: messages to the user; actions; phase events;
 * callbacks. */
#include "daemon/control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/signal_name.h"
#include "base/clock.h"
#include "base/exit_now.h"
#include "base/limit.h"
#include "daemon/end_progress.h"
#include "daemon/shutdown.h"
#include "daemon/supervisor.h"
#include "daemon/output.h"
#include "daemon/cluster_io.h"
#include "daemon/signals.h"
#include "daemon/control_socket.h"
#include "daemon/dvm_leases.h"
#include "daemon/job_shutdown.h"
#include "daemon/launcher.h"
#include "daemon/local_job.h"
#include "daemon/pending_query.h"
#include "daemon/tools.h"
#include "daemon/trace_writer.h"
#include "io/child.h"

enum { LATE_CODE = 124 };

static const struct node_context *context_of(const struct control *u)
{
    return u->config.context;
}

/* ---- messages to the user ---- */

/* Logs the pending report, in one write per line. */
static void print_report(void *arg, struct slice report)
{
    struct control *u = arg;

    while (report.len) {
        struct slice line = slice_cut(&report, '\n');
        log_error(context_of(u)->log, SLICE_FMT, SLICE_ARG(line));
    }
}

static struct node_progress progress_of(const struct control *u)
{
    struct node_progress p = { .all = 0 };

    if (context_of(u)->config->progress)
        context_of(u)->config->progress(context_of(u)->config->arg, &p);
    return p;
}

/* Reports the progress while nodes come up, otherwise the pending report. */
static void report(struct control *u)
{
    struct node_progress p = progress_of(u);

    trace_writer_flush(u->config.trace_writer);
    if (u->phase == PHASE_STATE_RISING && p.all)
        log_error(context_of(u)->log, "%u of %u %s are up%s%s", p.up, p.all,
                  p.slots ? "slots" : "nodes", p.awaited[0] ? "; " : "", p.awaited);
    else
        pending_query_begin(u->config.pending_queries, SLICE("stacks"), print_report, u);
}

static void log_give_up(const struct control *u, bool late)
{
    struct node_progress p = progress_of(u);
    char when[100] = "before the job began";

    if (p.all)
        snprintf(when, sizeof when, "while the nodes came up (%u of %u%s)", p.up, p.all,
                 p.slots ? " slots" : "");
    if (*context_of(u)->state == LAUNCHER_STATE_STANDING)
        log_error(context_of(u)->log, "interrupted: the DVM ends");
    else if (late)
        log_error(context_of(u)->log,
                  "the time limit of %u s has passed %s: nothing was started%s%s",
                  context_of(u)->config->timeout_s, when, p.awaited[0] ? "; " : "", p.awaited);
    else
        log_error(context_of(u)->log, "interrupted %s: nothing was started", when);
}

/* ---- actions ---- */

static bool is_led(const struct job *j)
{
    return !j->follows && !j->is_tool && j->phase == JOB_RUNNING;
}

static void give_up(struct control *u, bool late)
{
    log_give_up(u, late);
    timer_set(&u->patience, LIMIT_KILLED_MS);
    shutdown_give_up(u->config.shutdown, late ? LATE_CODE : 128 + u->ended_by);
}

static void end_jobs(struct control *u)
{
    timer_set(&u->patience, LIMIT_KILLED_MS);
    LIST_EACH(l, &u->config.jobs->all)
    {
        struct job *j = LIST_OF(l, struct local_job, link)->job;
        if (is_led(j))
            server_abort(context_of(u)->server, j, JOB_NO_RANK, 128 + u->ended_by,
                         "the job was interrupted");
    }
}

static void ask(struct control *u, int sig)
{
    const struct job *job = core_job(&context_of(u)->server->core, u->config.jobs->first);

    if (job && job->is_adopted) { /* there are no processes of ours that could be asked */
        end_jobs(u);
        return;
    }
    log_error(context_of(u)->log,
              "interrupted: all processes are asked to end; the rest will be killed in %u s, or by "
              "the next signal",
              LIMIT_ASKED_MS / 1000);
    end_progress_begin(u->config.ends);
    timer_set(&u->patience, LIMIT_ASKED_MS);
    signals_end(u->config.processes, NULL, sig);
}

static void end_job(struct control *u)
{
    log_error(context_of(u)->log, "interrupted while it was starting: the job ends");
    end_jobs(u);
}

static void kill_all(struct control *u, bool again)
{
    if (again)
        log_error(context_of(u)->log, "interrupted again: all processes are killed");
    else
        log_error(context_of(u)->log, "some processes have not ended within %u s: they are killed",
                  LIMIT_ASKED_MS / 1000);
    end_jobs(u);
    signals_all(u->config.processes, SIGKILL);
}

/* Stops the loop: the daemons on other nodes lose their links, and end. */
static void cut(struct control *u, bool late)
{
    if (u->ended_by == 0)
        u->config.shutdown->job_shutdown->exit_code = LATE_CODE;
    if (late)
        log_error(context_of(u)->log,
                  "the time limit of %u s has passed: remaining daemons and output are abandoned",
                  context_of(u)->config->timeout_s);
    output_drop(context_of(u)->output);
    signals_job(u->config.processes, NULL, SIGKILL);
    launcher_state_event(context_of(u)->state, LAUNCHER_EVENT_CUT, context_of(u)->log);
    loop_stop(context_of(u)->loop); /* node_run(), which runs it, kills the rest */
}

static void late_reason(const struct control *u, struct errmsg *why)
{
    const struct node_config *c = context_of(u)->config;

    if (u->left_behind)
        errmsg_set(why, 0, "the job did not end within %u s of the end of its first process",
                   c->exit_wait_s);
    else
        errmsg_set(why, 0, "the job did not end within its time limit of %u s", c->timeout_s);
}

static void end_late(void *arg, struct slice report)
{
    struct control *u = arg;
    struct job *job = core_job(&context_of(u)->server->core, u->config.jobs->first);
    struct errmsg why;

    if (!job || !launcher_state_has_job(*context_of(u)->state)) /* it has ended meanwhile */
        return;
    print_report(u, report);
    late_reason(u, &why);
    if (job->failed) /* the reason at its end is that failure */
        job_shutdown_log(u->config.shutdown->job_shutdown, &why);
    server_abort(context_of(u)->server, job, JOB_NO_RANK, LATE_CODE, "%s", why.text);
    turn_end(context_of(u)->turn);
}

/* Before the end by the time limit, with the stacks if the user wants them. */
static void last_report(struct control *u)
{
    bool stacks = context_of(u)->config->stacks_when_late;

    timer_set(&u->patience,
              LIMIT_WHO_MS + LIMIT_KILLED_MS + (stacks ? LIMIT_STACKS_MS + LIMIT_WHO_MS : 0));
    trace_writer_flush(u->config.trace_writer);
    pending_query_begin(u->config.pending_queries, stacks ? SLICE("stacks") : SLICE_NULL, end_late,
                        u);
}

/* ---- phase events ---- */

/* Has every process of the first job been started, or failed to? */
static bool all_started(const struct control *u)
{
    const struct job *job = core_job(&context_of(u)->server->core, u->config.jobs->first);

    for (uint32_t r = 0; job && r < job->plan.nprocs; r++) {
        if (job->procs[r].state == PROC_STATE_PLANNED)
            return false;
    }
    return job != NULL;
}

static void happen(struct control *u, enum phase_event event, int sig)
{
    if (u->phase == PHASE_STATE_STARTING && all_started(u))
        phase_state_step(&u->phase, PHASE_EVENT_STARTED);
    if (event == PHASE_EVENT_SIGNAL && u->ended_by == 0)
        u->ended_by = sig;
    u->late = u->late || event == PHASE_EVENT_LATE;
    switch (phase_state_step(&u->phase, event)) {
    case PHASE_ACTION_give_up: give_up(u, event == PHASE_EVENT_LATE); break;
    case PHASE_ACTION_ask: ask(u, sig); break;
    case PHASE_ACTION_end_job: end_job(u); break;
    case PHASE_ACTION_end_late: last_report(u); break;
    case PHASE_ACTION_kill: kill_all(u, event == PHASE_EVENT_SIGNAL); break;
    case PHASE_ACTION_hurry: timer_set(&u->patience, LIMIT_CLOSING_MS); break;
    case PHASE_ACTION_cut: cut(u, event == PHASE_EVENT_LATE); break;
    case PHASE_ACTION_kill_worker: /* the supervisor's */
    case PHASE_ACTION_nothing:
    case PHASE_ACTION_none: break;
    }
}

void control_job_up(struct control *u)
{
    happen(u, PHASE_EVENT_UP, 0);
}

void control_all_ended(void *control)
{
    happen(control, PHASE_EVENT_ENDED, 0);
}

void control_stands(struct control *u)
{
    timer_stop(&u->timeout);
    timer_stop(&u->warning);
    if (context_of(u)->config->control_fd >= 0)
        supervisor_limit(context_of(u)->config->control_fd, 0, 0);
    launcher_state_event(context_of(u)->state, LAUNCHER_EVENT_STAND, context_of(u)->log);
    happen(u, PHASE_EVENT_STAND, 0);
}

bool control_is_asked(const struct control *u)
{
    return u->late || u->ended_by;
}

int control_code(const struct control *u)
{
    return u->ended_by ? 128 + u->ended_by : u->config.shutdown->job_shutdown->exit_code;
}

/* ---- callbacks ---- */

static void take_signal(struct control *u, int sig)
{
    const struct cluster_io *s = context_of(u)->cluster;

    if (s && s->router.config.me != 0) { /* users signal the launcher */
        if (phase_is_end(sig))
            shutdown_orphan(u->config.shutdown);
        return;
    }
    switch (sig) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP: happen(u, PHASE_EVENT_SIGNAL, sig); break;
    case SIGQUIT: report(u); break;
    case SIGTSTP:
        pump_pause(&u->config.launcher->pump, true);
        signals_all(u->config.processes, SIGTSTP);
        break;
    case SIGCONT:
        signals_all(u->config.processes, SIGCONT);
        pump_pause(&u->config.launcher->pump, false);
        break;
    default: signals_all(u->config.processes, sig); break;
    }
}

/* The supervisor has gone (kill -9): nothing waits for us any more, so nothing may stay. */
static void guard_lost(struct control *u)
{
    /* First: launchers of jobs are to know why the daemons, which they may hear of sooner, end. */
    if (context_of(u)->config->dvm_leases)
        dvm_leases_close(context_of(u)->config->dvm_leases);
    signals_job(u->config.processes, NULL, SIGKILL);
    child_end_all();
    leftovers_remove(supervisor_leftovers());
    leftovers_tidy();
    trace_writer_flush(u->config.trace_writer);
    tools_close(u->config.tools);
    control_socket_close(u->config.control_socket);
    rendezvous_tidy();
    if (context_of(u)->config->sessions)
        session_dir_remove(context_of(u)->config->sessions);
    supervisor_finish(); /* the kernel may tell its end later than its socket does */
    exit_now(1);
}

static void control_acceptor(void *arg)
{
    struct control *u = arg;
    unsigned char signals[64];
    ssize_t got = read(context_of(u)->config->control_fd, signals, sizeof signals);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0)
        guard_lost(u);
    for (ssize_t i = 0; i < got; i++)
        take_signal(u, signals[i]);
    turn_end(context_of(u)->turn);
}

static void out_of_time(void *arg)
{
    struct control *u = arg;

    happen(u, PHASE_EVENT_LATE, 0);
    turn_end(context_of(u)->turn);
}

/* Some processes run this long after the first one has ended. */
static void left_behind(void *arg)
{
    struct control *u = arg;
    const struct node_config *c = context_of(u)->config;
    const struct job *job = core_job(&context_of(u)->server->core, u->config.jobs->first);

    if (!job || job->phase != JOB_RUNNING)
        return;
    if (c->exit_warns) {
        log_warn(context_of(u)->log,
                 "the first process ended %u s ago; %u of %u processes have not ended",
                 c->exit_wait_s, job->plan.nprocs - job->ended, job->plan.nprocs);
        return;
    }
    u->left_behind = true;
    happen(u, PHASE_EVENT_LATE, 0);
    turn_end(context_of(u)->turn);
}

void control_turn(struct control *u)
{
    const struct job *job;

    if (!context_of(u)->config->exit_wait_s || u->some_ended)
        return;
    job = core_job(&context_of(u)->server->core, u->config.jobs->first);
    if (!job || job->phase != JOB_RUNNING || job->ended == 0)
        return;
    u->some_ended = true;
    timer_set(&u->leaving, (uint64_t)context_of(u)->config->exit_wait_s * 1000);
}

static void out_of_patience(void *arg)
{
    struct control *u = arg;

    happen(u, PHASE_EVENT_PATIENCE, 0);
    turn_end(context_of(u)->turn);
}

static void warn(void *arg)
{
    struct control *u = arg;

    if (signal_asks_end(context_of(u)->config->warning))
        signals_end(u->config.processes, NULL, context_of(u)->config->warning);
    else
        signals_all(u->config.processes, context_of(u)->config->warning);
    turn_end(context_of(u)->turn);
}

/* The limit counts from the launcher's first instruction. */
static void set_limit(struct control *u)
{
    uint64_t now = clock_now_ns(),
             begun = context_of(u)->config->begun_ns ? context_of(u)->config->begun_ns : now;
    uint64_t due = begun + context_of(u)->config->timeout_s * NS_PER_S;

    timer_set(&u->timeout, due > now ? (due - now) / NS_PER_MS : 0);
    if (context_of(u)->config->warning) {
        due -= context_of(u)->config->warning_s * NS_PER_S;
        timer_set(&u->warning, due > now ? (due - now) / NS_PER_MS : 0);
    }
}

int control_open(struct control *u, const struct control_config *config)
{
    u->config = *config;
    timer_init(&u->timeout, context_of(u)->loop, out_of_time, u);
    timer_init(&u->warning, context_of(u)->loop, warn, u);
    timer_init(&u->leaving, context_of(u)->loop, left_behind, u);
    timer_init(&u->patience, context_of(u)->loop, out_of_patience, u);
    u->phase = PHASE_STATE_RISING;
    u->late = u->some_ended = u->left_behind = false;
    if (context_of(u)->config->timeout_s)
        set_limit(u);
    if (context_of(u)->config->control_fd < 0)
        return 0;
    supervisor_listening();
    watch_open(&u->supervisor, context_of(u)->loop, context_of(u)->config->control_fd,
               control_acceptor, NULL, u);
    return watch_want(&u->supervisor, LOOP_READ);
}

void control_close(struct control *u)
{
    watch_close(&u->supervisor);
    timer_stop(&u->timeout);
    timer_stop(&u->warning);
    timer_stop(&u->leaving);
    timer_stop(&u->patience);
}
