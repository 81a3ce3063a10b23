/* job_end.c - see job_end.h. */
#include "core/job_end.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/effect.h"

static struct slice why_failed(const struct job *j)
{
    return j->failed ? slice_str(j->reason.text) : SLICE_NULL;
}

static bool push_kill(struct job *j)
{
    return effects_push(j->effects, EFFECT_WITH(kill, .job = j->id, .code = job_exit_code(j),
                                                .reason = why_failed(j)));
}

static bool push_ended(struct job *j)
{
    return effects_push(j->effects, EFFECT_WITH(job_ended, .job = j->id, .code = job_exit_code(j),
                                                .reason = why_failed(j)));
}

bool job_settle(struct job *j)
{
    j->owes_kill = j->owes_kill && !push_kill(j);
    if (!j->owes_kill)
        j->owes_end = j->owes_end && !push_ended(j);
    return !j->owes_kill && !j->owes_end;
}

/* The code as a shell sees it: an abort with 0 stays 0, and no other code becomes 0 for want of
 * bits. */
static int status_of(int exit_code)
{
    int status = exit_code & 0xff;

    return exit_code && !status ? 1 : status;
}

void job_count_end(struct job *j, uint32_t rank)
{
    uint32_t all = j->follows && j->spread ? j->nmine : j->plan.nprocs;

    if (j->follows && !job_rank_is_here(j, rank))
        return;
    if (++j->ended == all && j->phase != JOB_ENDED) {
        j->phase = JOB_ENDED;
        j->owes_end = true;
        job_settle(j);
    }
}

/* Nothing is started again any more. */
static void count_held(struct job *j)
{
    for (uint32_t r = 0; j->nreturn && r < j->plan.nprocs; r++) {
        if (!j->procs[r].returns)
            continue;
        j->procs[r].returns = false;
        j->nreturn--;
        job_count_end(j, r);
    }
}

void job_end(struct job *j, uint32_t culprit, int exit_code, const char *reason)
{
    if (j->phase != JOB_RUNNING)
        return;
    j->phase = JOB_ENDING;
    if (!j->failed) {
        j->failed = true;
        j->culprit = culprit;
        j->exit_code = status_of(exit_code);
        if (reason != j->reason.text)
            snprintf(j->reason.text, sizeof j->reason.text, "%s", reason);
    } else if (culprit == j->culprit && culprit != JOB_NO_RANK && reason != j->reason.text) {
        /* Its exit code counted already; only now is it known that the others cannot go on. */
        snprintf(j->reason.text, sizeof j->reason.text, "%s", reason);
    }
    j->owes_kill = true;
    job_settle(j);
    count_held(j);
}

void job_blame(struct job *j, int exit_code, const char *reason)
{
    if (j->failed || j->phase != JOB_RUNNING)
        return;
    j->failed = true;
    j->culprit = JOB_NO_RANK;
    j->exit_code = status_of(exit_code);
    snprintf(j->reason.text, sizeof j->reason.text, "%s", reason);
}

static bool failed_by_command(const struct job *j)
{
    return j->failed && j->culprit < j->plan.nprocs && j->procs[j->culprit].commanded;
}

void job_fail(struct job *j, int exit_code, const char *reason)
{
    if (j->follows) {
        effects_push(j->effects,
                     EFFECT_WITH(abort, .job = j->id, .culprit = JOB_NO_RANK, .code = exit_code,
                                 .reason = slice_str(reason), .goes_on = true));
        return;
    }
    if (failed_by_command(j) && j->phase == JOB_RUNNING)
        j->failed = j->code_pending = false;
    job_blame(j, exit_code, reason);
}

static void ask_for_end(struct job *j, uint32_t culprit, int exit_code, const char *reason)
{
    bool requested = culprit < j->plan.nprocs && j->procs[culprit].aborted;

    if (j->phase != JOB_RUNNING || j->asked_abort)
        return;
    j->asked_abort = effects_push(j->effects, EFFECT_WITH(abort, .job = j->id, .culprit = culprit,
                                                          .code = exit_code, .requested = requested,
                                                          .reason = slice_str(reason)));
}

void job_abort(struct job *j, uint32_t culprit, int exit_code, const char *format, ...)
{
    struct errmsg reason;
    va_list args;

    va_start(args, format);
    vsnprintf(reason.text, sizeof reason.text, format, args);
    va_end(args);
    if (j->follows)
        ask_for_end(j, culprit, exit_code, reason.text);
    else
        job_end(j, culprit, exit_code, reason.text);
}

int job_exit_code(const struct job *j)
{
    return j->failed ? j->exit_code : 0;
}
