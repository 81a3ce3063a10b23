/* enter.c - see enter.h. */
#include "launch/enter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/job_map.h"
#include "io/write_all.h"
#include "launch/job_list.h"
#include "launch/options.h"
#include "launch/queries.h"

enum { ENTER_ANSWER = 1 << 20 };

struct enter_line {
    bool json;
    const char *job;
    uint32_t rank;  /* JOB_NO_RANK: any */
    char **program; /* NULL: print */
};

int enter_misused(const struct command_line *l)
{
    log_error(l->log, "usage: wireup enter [--json] JOB [RANK] [PROGRAM]");
    return 2;
}

/* Digits behind JOB are a rank. */
static bool read_line(int argc, char **argv, struct enter_line *e)
{
    int i = 2;

    *e = (struct enter_line){ .rank = JOB_NO_RANK };
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i] + strspn(argv[i], "-"), "json") != 0)
            return false;
        e->json = true;
    }
    if (i == argc)
        return false;
    e->job = argv[i++];
    if (i < argc && slice_u32(slice_str(argv[i]), &e->rank))
        i++;
    if (i < argc)
        e->program = argv + i;
    return !(e->json && e->program);
}

/* The whole answer of its launcher. */
static int ask(const struct enter_line *e, const struct listed_job *job, struct buf *answer)
{
    struct buf question = BUF_NULL(4096);
    int rc;

    buf_printf(&question, "enter %u ", job->row.job);
    if (e->rank == JOB_NO_RANK)
        buf_byte(&question, '-');
    else
        buf_u64(&question, e->rank);
    buf_printf(&question, " %s\n", e->program ? "vars" : e->json ? "json" : "shell");
    rc = queries_launcher(&job->launcher->where, buf_slice(&question), answer);
    buf_free(&question);
    return rc;
}

/* NAME=VALUE, or -NAME. */
static bool set_variable(struct arena *a, struct slice line)
{
    char *text = arena_str(a, line), *value = text ? strchr(text, '=') : NULL;

    if (!text)
        return false;
    if (*text == '-')
        return unsetenv(text + 1) == 0;
    if (!value)
        return false;
    *value++ = '\0';
    return setenv(text, value, 1) == 0;
}

/* Returns only if it cannot. */
static int become(const struct enter_line *e, struct slice vars, const struct log *log)
{
    struct arena a = ARENA_NULL(ENTER_ANSWER * 2);
    bool good = true;

    while (vars.len && good)
        good = set_variable(&a, slice_cut(&vars, '\n'));
    arena_free(&a);
    if (good)
        execvp(e->program[0], e->program);
    log_error(log, "cannot run %s: %s", e->program[0], err_text(good ? errno : ENOMEM));
    return good && errno == ENOENT ? 127 : 126;
}

static int enter(const struct enter_line *e, const struct listed_job *job, const struct log *log)
{
    struct buf answer = BUF_NULL(ENTER_ANSWER);
    int rc = ask(e, job, &answer), code = 1;
    struct slice text = buf_slice(&answer);

    if (rc < 0)
        log_error(log, "the launcher of job %s does not answer: %s", job->id, err_text(rc));
    else if (slice_starts(text, SLICE("error: ")))
        log_error(log, SLICE_FMT, SLICE_ARG(slice_head(slice_skip(text, 7), text.len - 8)));
    else if (e->program)
        code = become(e, text, log);
    else
        code = write_all_slice(STDOUT_FILENO, text) == 0 ? 0 : 1;
    buf_free(&answer);
    return code;
}

int enter_command(int argc, char **argv, const struct log *log)
{
    const struct listed_job *job;
    struct enter_line e;
    struct job_list jobs;
    struct errmsg err;
    int code = 1;

    if (!read_line(argc, argv, &e))
        return enter_misused(&(struct command_line){ .log = log });
    job = job_list_find(&jobs, e.job, log, &err);
    if (job)
        code = enter(&e, job, log);
    else
        log_error(log, "%s", err.text);
    job_list_free(&jobs);
    return code;
}
