/* server_job_logs.c - see server_job_logs.h. */
#include "server/server_job_logs.h"

#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "core/control.h"
#include "core/core.h"
#include "core/job_end.h"
#include "core/request.h"
#include "pmix_common.h"

enum { LINE_MAX = 1024, PROGRESS_STEP = 100 };

/* The controlling node does it for all. */
static bool wants(const struct job *j, uint32_t ways)
{
    return j->plan.ways & ways && !j->follows;
}

/* Takes the line over.  Without memory it is missing. */
static void log_line_of(struct server *s, const struct job *j, struct buf *line)
{
    struct job *of = core_job(&s->core, j->id);

    buf_byte(line, '\n');
    if (of && buf_ok(line))
        control_log(&s->core, of, 0,
                    &(struct request_log){ .channel = SLICE("stderr"), .text = buf_slice(line) });
    buf_free(line);
}

/* A trace may have none. */
static const char *program_of(const struct job *j)
{
    return j->plan.napps && j->plan.apps[0].argv ? j->plan.apps[0].argv[0] : "";
}

static void put_name(struct buf *line, const struct job *j)
{
    buf_printf(line, "job %s (%s)", j->nspace, program_of(j));
}

void server_log_job(struct server *s, const struct job *j, int event)
{
    struct buf line = BUF_NULL(LINE_MAX);
    bool is_end = event == PMIX_EVENT_JOB_END;

    if (!wants(j, JOB_MAP_LOG_EVENTS | (is_end ? JOB_MAP_LOG_END : 0u)))
        return;
    put_name(&line, j);
    if (event == PMIX_EVENT_JOB_START)
        buf_str(&line, " has started");
    else if (event == PMIX_LAUNCH_COMPLETE)
        buf_printf(&line, ": all %u processes are running", j->plan.nprocs);
    else if (is_end)
        buf_printf(&line, " has ended with exit code %d", job_exit_code(j));
    else
        buf_clear(&line);
    if (buf_len(&line))
        log_line_of(s, j, &line);
    buf_free(&line);
}

void server_log_progress(struct server *s, const struct job *j)
{
    struct buf line = BUF_NULL(LINE_MAX);

    if (!wants(j, JOB_MAP_LOG_PROGRESS) ||
        (j->started % PROGRESS_STEP && j->started != j->plan.nprocs))
        return;
    put_name(&line, j);
    buf_printf(&line, ": %u of %u processes have started", j->started, j->plan.nprocs);
    log_line_of(s, j, &line);
}

static void put_end(struct buf *line, const struct proc *p)
{
    const char *abbrev = p->signalled ? sigabbrev_np(p->code) : NULL;

    if (p->signalled)
        buf_printf(line, "was killed by signal %d (SIG%s)", p->code, abbrev ? abbrev : "?");
    else if (p->pid)
        buf_printf(line, "has ended with exit code %d", p->code);
    else
        buf_str(line, "was not started");
}

void server_log_proc(struct server *s, const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];
    bool failed = p->signalled || p->code || !p->pid;
    struct buf line = BUF_NULL(LINE_MAX);

    if (!wants(j, JOB_MAP_LOG_EXITS | (failed ? JOB_MAP_LOG_FAILURES : 0u)))
        return;
    buf_printf(&line, "rank %u of ", rank);
    put_name(&line, j);
    buf_byte(&line, ' ');
    put_end(&line, p);
    log_line_of(s, j, &line);
}
