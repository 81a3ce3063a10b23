/* second_jobs.c - see second_jobs.h.  Reading order: jobs; cancelling; the command that submits;
 * requests; the end. */
#include "launch/second_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/loop.h"

enum { SECOND_JOBS_ARENA = 1 << 20 };

struct second_job_run {
    struct list link;
    struct second_jobs *of;
    uint32_t request;
    char id[SECOND_JOB_ID + 1]; /* empty: not known yet */
    bool unwanted;              /* given up before its number was known */
    struct side_command *submit;
    struct timer patience; /* for its number */
};

/* ---- jobs ------------------------------------------------------------------------------------ */

static void run_free(struct second_job_run *r)
{
    timer_stop(&r->patience);
    side_command_free(r->submit);
    list_unlink(&r->link);
    free(r);
}

static struct second_job_run *find(const struct second_jobs *s, uint32_t request)
{
    LIST_EACH(l, &s->all)
    {
        struct second_job_run *r = LIST_OF(l, struct second_job_run, link);
        if (r->request == request)
            return r;
    }
    return NULL;
}

/* ---- cancelling ------------------------------------------------------------------------------ */

static void cancelled(void *arg, struct side_command *k, int status, bool late)
{
    const struct second_jobs *s = arg;
    struct slice why = second_job_reason(side_command_errors(k));

    if (late || status)
        log_warn(s->config.log, "a job in the queue of %s could not be cancelled: " SLICE_FMT,
                 s->config.manager,
                 SLICE_ARG(late      ? SLICE("its command does not end")
                           : why.len ? why
                                     : SLICE("its command has failed")));
}

/* Beside the loop. */
static void cancel(struct second_job_run *r)
{
    struct second_jobs *s = r->of;
    struct arena a = ARENA_NULL(SECOND_JOBS_ARENA);
    struct side_command_config config = { .patience_ms = LIMIT_SECOND_JOB_CANCEL_MS,
                                          .done = cancelled,
                                          .arg = s };
    struct errmsg err = { "out of memory" };

    config.words = second_job_cancel(&a, s->config.manager, r->request);
    if (!config.words || !side_command_start(&s->commands, &config, &err))
        log_warn(s->config.log, "a job in the queue of %s could not be cancelled: %s",
                 s->config.manager, err.text);
    arena_free(&a);
}

/* ---- the command that submits ---------------------------------------------------------------- */

static void over(struct second_job_run *r, const struct errmsg *why)
{
    struct second_jobs *s = r->of;
    uint32_t request = r->request;
    bool unwanted = r->unwanted;

    run_free(r);
    if (!unwanted)
        s->config.over(s->config.arg, request, why->text);
}

static bool learn_id(struct second_job_run *r, const struct side_command *k)
{
    if (r->id[0] || !second_job_id(side_command_out(k), r->id))
        return false;
    timer_stop(&r->patience);
    return true;
}

static void on_output(void *arg, struct side_command *k)
{
    struct second_job_run *r = arg;
    const struct second_jobs_config *c = &r->of->config;

    if (!learn_id(r, k))
        return;
    if (r->unwanted) {
        cancel(r);
        run_free(r);
        return;
    }
    log_info(c->log, "job %s of %s is to bring more nodes", r->id, c->manager);
    c->submitted(c->arg, r->request, c->manager, r->id);
}

static void explain(const struct second_job_run *r, const struct side_command *k, bool good,
                    struct errmsg *err)
{
    struct slice why = slice_head(second_job_reason(side_command_errors(k)), 500),
                 all = side_command_out(k), out = slice_head(slice_cut(&all, '\n'), 100);
    const char *manager = r->of->config.manager;

    if (r->id[0])
        errmsg_set(err, 0, "job %s of %s, which was to bring the nodes, has ended before them",
                   r->id, manager);
    else if (good)
        errmsg_set(err, 0,
                   "%s has not said under which number it has taken the job that was to bring the "
                   "nodes, but: '" SLICE_FMT "'",
                   manager, SLICE_ARG(out));
    else
        errmsg_set(err, 0, "%s does not take the job that was to bring the nodes%s" SLICE_FMT,
                   manager, why.len ? ": " : "", SLICE_ARG(why));
}

/* A command that has lost its manager leaves the job behind. */
static void ended(void *arg, struct side_command *k, int status, bool late)
{
    struct second_job_run *r = arg;
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    struct errmsg err;

    (void)late;       /* it has no limit */
    r->submit = NULL; /* is freed by who calls */
    learn_id(r, k);
    explain(r, k, good, &err);
    if (r->id[0] || good)
        cancel(r);
    over(r, &err);
}

static void too_late(void *arg)
{
    struct second_job_run *r = arg;
    struct errmsg err;

    errmsg_set(&err, 0, "%s has not taken the job that was to bring the nodes within %u s",
               r->of->config.manager, LIMIT_SECOND_JOB_SUBMIT_MS / 1000);
    cancel(r);
    over(r, &err);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Of an earlier launcher's nodes none has it. */
static uint32_t next_number(struct second_jobs *s)
{
    if (!s->last && getrandom(&s->last, sizeof s->last, 0) != (ssize_t)sizeof s->last)
        s->last = (uint32_t)getpid();
    s->last += s->last == UINT32_MAX ? 2 : 1;
    return s->last;
}

static int submit(struct second_job_run *r, const struct second_job *j, struct errmsg *err)
{
    struct second_jobs *s = r->of;
    struct arena a = ARENA_NULL(SECOND_JOBS_ARENA);
    struct second_job_words w;
    struct side_command_config config = { .more = on_output, .done = ended, .arg = r };
    int rc = second_job_words(&a, s->config.manager, j, &w, err);

    if (rc == 0) {
        config.words = w.submit;
        config.env = w.env;
        config.input = w.script;
        r->submit = side_command_start(&s->commands, &config, err);
        rc = r->submit ? 0 : -EIO;
    }
    if (rc == 0)
        second_job_words_wipe(&w);
    arena_free(&a);
    return rc;
}

int second_jobs_begin(struct second_jobs *s, struct second_job *j, struct errmsg *err)
{
    struct second_job_run *r = calloc(1, sizeof *r);
    int rc;

    if (!r)
        return errmsg_set(err, -ENOMEM, "out of memory");
    *r = (struct second_job_run){ .of = s, .request = next_number(s) };
    list_append(&s->all, &r->link);
    timer_init(&r->patience, s->config.loop, too_late, r);
    j->request = r->request;
    rc = timer_set(&r->patience, LIMIT_SECOND_JOB_SUBMIT_MS);
    rc = rc < 0 ? errmsg_set(err, rc, "out of memory") : submit(r, j, err);
    if (rc)
        run_free(r);
    return rc;
}

void second_jobs_came(struct second_jobs *s, uint32_t request)
{
    struct second_job_run *r = find(s, request);

    if (r)
        run_free(r);
}

/* A command that has not said its number is not ended: the manager may take the job just now. */
void second_jobs_give_up(struct second_jobs *s, uint32_t request)
{
    struct second_job_run *r = find(s, request);

    if (!r)
        return;
    if (r->id[0]) {
        cancel(r);
        run_free(r);
    } else {
        r->unwanted = true;
    }
}

bool second_jobs_reaped(struct second_jobs *s, pid_t pid, int status)
{
    return side_commands_reaped(&s->commands, pid, status);
}

void second_jobs_open(struct second_jobs *s, const struct second_jobs_config *config)
{
    *s = (struct second_jobs){ .config = *config };
    side_commands_open(&s->commands, config->loop);
    list_init(&s->all);
}

/* ---- the end --------------------------------------------------------------------------------- */

void second_jobs_close(struct second_jobs *s)
{
    if (!s->config.loop)
        return;
    LIST_EACH(l, &s->all)
    {
        struct second_job_run *r = LIST_OF(l, struct second_job_run, link);
        cancel(r);
        run_free(r);
    }
    side_commands_await(&s->commands, LIMIT_SECOND_JOB_END_MS);
    side_commands_close(&s->commands);
    s->config.loop = NULL;
}
