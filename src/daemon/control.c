/* control.c - see control.h.  Reading order: messages to the user; actions; phase events;
 * callbacks. */
#include "daemon/control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "daemon/shutdown.h"
#include "daemon/supervisor.h"
#include "daemon/output.h"
#include "daemon/multinode.h"
#include "daemon/signals.h"
#include "daemon/local_job.h"
#include "daemon/node_priv.h"

enum { LATE_CODE = 124 };

/* ---- messages to the user ---- */

/* Logs the pending report, in one write per line. */
static void print_report(void *arg, struct slice report)
{
    struct node *n = arg;

    while (report.len) {
        struct slice line = slice_cut(&report, '\n');
        log_error(&n->config.log, SLICE_FMT, SLICE_ARG(line));
    }
}

static struct node_progress progress_of(const struct node *n)
{
    struct node_progress p = { .all = 0 };

    if (n->config.progress)
        n->config.progress(n->config.arg, &p);
    return p;
}

/* Reports the progress while nodes come up, otherwise the pending report. */
static void report(struct node *n)
{
    struct node_progress p = progress_of(n);

    trace_writer_flush(&n->trace_writer);
    if (n->control.phase == PHASE_STATE_RISING && p.all)
        log_error(&n->config.log, "%u of %u nodes are up%s%s", p.up, p.all,
                  p.awaited[0] ? "; " : "", p.awaited);
    else
        pending_query_begin(&n->pending_queries, SLICE_NULL, print_report, n);
}

static void say_gave_up(const struct node *n, bool late)
{
    struct node_progress p = progress_of(n);
    char when[100] = "before the job began";

    if (p.all)
        snprintf(when, sizeof when, "while the nodes came up (%u of %u)", p.up, p.all);
    if (n->launcher == LAUNCHER_STATE_STANDING)
        log_error(&n->config.log, "interrupted: the DVM ends");
    else if (late)
        log_error(&n->config.log, "the time limit of %u s has passed %s: nothing was started%s%s",
                  n->config.timeout_s, when, p.awaited[0] ? "; " : "", p.awaited);
    else
        log_error(&n->config.log, "interrupted %s: nothing was started", when);
}

/* ---- actions ---- */

static bool is_led(const struct job *j)
{
    return !j->follows && !j->is_tool && j->phase == JOB_RUNNING;
}

static void give_up(struct node *n, bool late)
{
    say_gave_up(n, late);
    timer_set(&n->control.patience, LIMIT_KILLED_MS);
    shutdown_give_up(n, late ? LATE_CODE : 128 + n->control.ended_by);
}

static void ask(struct node *n, int sig)
{
    log_error(&n->config.log,
              "interrupted: all processes are asked to end; the rest will be killed in %u s, or by "
              "the next signal",
              LIMIT_ASKED_MS / 1000);
    timer_set(&n->control.patience, LIMIT_ASKED_MS);
    signals_all(n, sig);
}

static void end_jobs(struct node *n)
{
    timer_set(&n->control.patience, LIMIT_KILLED_MS);
    LIST_EACH(l, &n->works)
    {
        struct job *j = LIST_OF(l, struct local_job, link)->job;
        if (is_led(j))
            server_abort(&n->server, j, JOB_NO_RANK, 128 + n->control.ended_by,
                         "the job was interrupted");
    }
}

static void end_job(struct node *n)
{
    log_error(&n->config.log, "interrupted while it was starting: the job ends");
    end_jobs(n);
}

static void kill_all(struct node *n, bool again)
{
    if (again)
        log_error(&n->config.log, "interrupted again: all processes are killed");
    else
        log_error(&n->config.log, "some processes have not ended within %u s: they are killed",
                  LIMIT_ASKED_MS / 1000);
    end_jobs(n);
    signals_all(n, SIGKILL);
}

/* Stops the loop: the daemons on other nodes lose their links, and end. */
static void cut(struct node *n, bool late)
{
    if (n->control.ended_by == 0)
        n->exit_code = LATE_CODE;
    if (late)
        log_error(&n->config.log,
                  "the time limit of %u s has passed: remaining daemons and output are abandoned",
                  n->config.timeout_s);
    output_drop(&n->output);
    signals_job(n, NULL, SIGKILL);
    launcher_state_event(&n->launcher, LAUNCHER_EVENT_CUT, &n->config.log);
    loop_stop(&n->loop); /* node_run(), which runs it, kills what is left */
}

static void end_late(void *arg, struct slice report)
{
    struct node *n = arg;
    struct job *job = core_job(&n->server.core, n->first_job);

    if (!job || !launcher_state_has_job(n->launcher)) /* it has ended meanwhile */
        return;
    print_report(n, report);
    server_abort(&n->server, job, JOB_NO_RANK, LATE_CODE,
                 "the job did not end within its time limit of %u s", n->config.timeout_s);
    turn_end(&n->turn);
}

/* ---- phase events ---- */

/* Has every process of the first job been started, or failed to? */
static bool all_started(const struct node *n)
{
    const struct job *job = core_job((struct core *)(uintptr_t)&n->server.core, n->first_job);

    for (uint32_t r = 0; job && r < job->plan.nprocs; r++) {
        if (job->procs[r].state == PROC_STATE_PLANNED)
            return false;
    }
    return job != NULL;
}

static void happen(struct node *n, enum phase_event event, int sig)
{
    if (n->control.phase == PHASE_STATE_STARTING && all_started(n))
        phase_state_step(&n->control.phase, PHASE_EVENT_STARTED);
    if (event == PHASE_EVENT_SIGNAL && n->control.ended_by == 0)
        n->control.ended_by = sig;
    switch (phase_state_step(&n->control.phase, event)) {
    case PHASE_ACTION_give_up: give_up(n, event == PHASE_EVENT_LATE); break;
    case PHASE_ACTION_ask: ask(n, sig); break;
    case PHASE_ACTION_end_job: end_job(n); break;
    case PHASE_ACTION_end_late:
        timer_set(&n->control.patience, LIMIT_WHO_MS + LIMIT_KILLED_MS);
        trace_writer_flush(&n->trace_writer);
        pending_query_begin(&n->pending_queries, SLICE_NULL, end_late, n);
        break;
    case PHASE_ACTION_kill: kill_all(n, event == PHASE_EVENT_SIGNAL); break;
    case PHASE_ACTION_hurry: timer_set(&n->control.patience, LIMIT_CLOSING_MS); break;
    case PHASE_ACTION_cut: cut(n, event == PHASE_EVENT_LATE); break;
    case PHASE_ACTION_kill_worker: /* the supervisor's */
    case PHASE_ACTION_nothing:
    case PHASE_ACTION_none: break;
    }
}

void control_job_up(struct node *n)
{
    happen(n, PHASE_EVENT_UP, 0);
}

void control_all_ended(void *node)
{
    happen(node, PHASE_EVENT_ENDED, 0);
}

void node_stands(struct node *n)
{
    timer_stop(&n->control.timeout);
    if (n->config.control_fd >= 0)
        supervisor_limit(n->config.control_fd, 0, 0);
    launcher_state_event(&n->launcher, LAUNCHER_EVENT_STAND, &n->config.log);
    happen(n, PHASE_EVENT_STAND, 0);
}

int control_code(const struct node *n)
{
    return n->control.ended_by ? 128 + n->control.ended_by : n->exit_code;
}

/* ---- callbacks ---- */

static void take_signal(struct node *n, int sig)
{
    if (n->multinode && n->multinode->router.config.me != 0) { /* users signal the launcher */
        if (phase_is_end(sig))
            shutdown_orphan(n->multinode);
        return;
    }
    switch (sig) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP: happen(n, PHASE_EVENT_SIGNAL, sig); break;
    case SIGQUIT: report(n); break;
    case SIGTSTP:
        pump_pause(&n->pump, true);
        signals_all(n, SIGTSTP);
        break;
    case SIGCONT:
        signals_all(n, SIGCONT);
        pump_pause(&n->pump, false);
        break;
    default: signals_all(n, sig); break;
    }
}

/* The supervisor has gone (kill -9): nothing waits for us any more, so nothing may stay. */
static void guard_lost(struct node *n)
{
    signals_job(n, NULL, SIGKILL);
    child_end_all();
    trace_writer_flush(&n->trace_writer);
    tools_close(&n->tools);
    control_socket_close(&n->control_socket);
    rendezvous_tidy();
    if (n->config.sessions)
        session_dir_remove(n->config.sessions);
    _exit(1);
}

static void control_acceptor(void *arg)
{
    struct node *n = arg;
    unsigned char signals[64];
    ssize_t got = read(n->config.control_fd, signals, sizeof signals);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0)
        guard_lost(n);
    for (ssize_t i = 0; i < got; i++)
        take_signal(n, signals[i]);
    turn_end(&n->turn);
}

static void out_of_time(void *arg)
{
    struct node *n = arg;

    happen(n, PHASE_EVENT_LATE, 0);
    turn_end(&n->turn);
}

static void out_of_patience(void *arg)
{
    struct node *n = arg;

    happen(n, PHASE_EVENT_PATIENCE, 0);
    turn_end(&n->turn);
}

/* The limit counts from the launcher's first instruction. */
static void set_limit(struct node *n)
{
    uint64_t now = clock_now_ns(), begun = n->config.begun_ns ? n->config.begun_ns : now;
    uint64_t due = begun + n->config.timeout_s * NS_PER_S;

    timer_set(&n->control.timeout, due > now ? (due - now) / NS_PER_MS : 0);
}

int control_open(struct node *n)
{
    timer_init(&n->control.timeout, &n->loop, out_of_time, n);
    timer_init(&n->control.patience, &n->loop, out_of_patience, n);
    n->control.phase = PHASE_STATE_RISING;
    if (n->config.timeout_s)
        set_limit(n);
    if (n->config.control_fd < 0)
        return 0;
    supervisor_listening(n->config.control_fd);
    watch_open(&n->control.supervisor, &n->loop, n->config.control_fd, control_acceptor, NULL, n);
    return watch_want(&n->control.supervisor, LOOP_READ);
}

void control_close(struct node *n)
{
    watch_close(&n->control.supervisor);
    timer_stop(&n->control.timeout);
    timer_stop(&n->control.patience);
}
