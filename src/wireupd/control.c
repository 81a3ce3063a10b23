/* control.c - see control.h. */
#include "wireupd/control.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "wireupd/ending.h"
#include "wireupd/share.h"
#include "wireupd/signals.h"
#include "wireupd/work.h"

/* Who is missing, to standard error, in one write per line. */
static void print_report(void *arg, struct slice report)
{
    struct node *n = arg;

    while (report.len) {
        struct slice line = slice_cut(&report, '\n');
        log_error(&n->config.log, SLICE_FMT, SLICE_ARG(line));
    }
}

static void begin_report(struct node *n, inquest_fn *done)
{
    tape_flush(&n->tape);
    inquest_begin(&n->inquests, SLICE_NULL, done, n);
}

static void interrupt(struct node *n, int sig)
{
    struct job *job = core_job(&n->server.core, n->first_job);
    struct work *w = job ? work_of(n, job) : NULL;

    if (++n->interrupts > 1) {
        log_error(&n->config.log, "interrupted again: all processes are killed");
        server_abort(&n->server, job, JOB_NO_RANK, 128 + sig, "the job was interrupted");
        signals_all(n, SIGKILL);
        return;
    }
    if (w && w->next < job->plan.nprocs) { /* who is not started yet could not hear it */
        log_error(&n->config.log, "interrupted while it was starting: the job ends");
        server_abort(&n->server, job, JOB_NO_RANK, 128 + sig, "the job was interrupted");
        return;
    }
    log_error(&n->config.log, "interrupted: asking all processes to end; once more kills them");
    signals_all(n, sig);
}

static void take_signal(struct node *n, int sig)
{
    if (n->share && n->share->cluster.config.me != 0) { /* users signal the launcher */
        if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP)
            ending_orphan(n);
        return;
    }
    switch (sig) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP: interrupt(n, sig); break;
    case SIGQUIT: begin_report(n, print_report); break;
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

/* The guard has gone (kill -9): nobody waits for us any more, and nothing may stay. */
static void guard_lost(struct node *n)
{
    signals_job(n, NULL, SIGKILL);
    child_end_all();
    tape_flush(&n->tape);
    tools_close(&n->tools);
    _exit(1);
}

static void control_door(void *arg)
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
    node_settle(n);
}

static void end_late(void *arg, struct slice report)
{
    struct node *n = arg;
    struct job *job = core_job(&n->server.core, n->first_job);

    if (!job || n->draining) /* it has ended meanwhile */
        return;
    print_report(n, report);
    server_abort(&n->server, job, JOB_NO_RANK, 124,
                 "the job did not end within its time limit of %u s", n->config.timeout_s);
    node_settle(n);
}

static void out_of_time(void *arg)
{
    begin_report(arg, end_late);
}

int control_open(struct node *n)
{
    timer_init(&n->timeout, &n->loop, out_of_time, n);
    if (n->config.control_fd < 0)
        return 0;
    watch_open(&n->control, &n->loop, n->config.control_fd, control_door, NULL, n);
    return watch_want(&n->control, LOOP_READ);
}

void control_close(struct node *n)
{
    watch_close(&n->control);
    timer_stop(&n->timeout);
}
