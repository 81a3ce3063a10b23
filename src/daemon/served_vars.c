/* served_vars.c - see served_vars.h. */
#include "daemon/served_vars.h"

#include <string.h>
#include <unistd.h>

#include "core/job.h"
#include "daemon/local_job.h"
#include "daemon/process.h"
#include "daemon/process_env.h"

extern char **environ;

/* Left over from another launcher, they would be preferred. */
static const char *const unwanted[] = { "PMI_FD", "PMI2_FD", "WIREUP_FD", "PMI_SPAWNED" };

enum { UNWANTED = sizeof unwanted / sizeof *unwanted };

/* ---- environment ----------------------------------------------------------------------------- */

/* The variables that are ours: behind those of the application, which are our own environment. */
char **served_vars(struct processes *p, const struct job *job, uint32_t rank)
{
    char **vars = process_env(p, job, rank);

    for (size_t i = 0; vars && environ[i]; i++)
        vars++;
    return vars;
}

/* Quoted for the shell. */
static void put_quoted(struct buf *out, const char *text)
{
    buf_byte(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buf_str(out, "'\\''");
        else
            buf_byte(out, *text);
    }
    buf_byte(out, '\'');
}

void served_vars_line(struct buf *out, char *const *vars)
{
    buf_str(out, "unset");
    for (size_t i = 0; i < UNWANTED; i++)
        buf_printf(out, " %s", unwanted[i]);
    buf_str(out, "; export");
    for (; *vars; vars++) {
        size_t name = strcspn(*vars, "=");
        buf_printf(out, " %.*s=", (int)name, *vars);
        put_quoted(out, *vars + name + 1);
    }
    buf_byte(out, '\n');
}

static void json_rank_members(struct json *j, uint32_t rank, char *const *vars)
{
    json_u64(j, "rank", rank);
    json_object(j, "environment");
    for (; *vars; vars++) {
        size_t name = strcspn(*vars, "=");
        json_key(j, slice_mem(*vars, name));
        json_str(j, NULL, *vars + name + 1);
    }
    json_object_end(j);
}

void served_vars_rank(struct json *j, uint32_t rank, char *const *vars)
{
    json_object(j, NULL);
    json_rank_members(j, rank, vars);
    json_object_end(j);
}

void served_vars_head(struct json *j, const char *schema, const struct job *job)
{
    json_object(j, NULL);
    json_str(j, "schema", schema);
    json_str(j, "namespace", job->nspace);
    json_i64(j, "server_pid", getpid());
    json_array(j, "unset");
    for (size_t i = 0; i < UNWANTED; i++)
        json_str(j, NULL, unwanted[i]);
    json_array_end(j);
}

/* ---- one process that enters ----------------------------------------------------------------- */

static struct local_job *served(struct local_jobs *jobs, uint32_t id, struct buf *out)
{
    LIST_EACH(l, &jobs->all)
    {
        struct local_job *w = LIST_OF(l, struct local_job, link);
        if (w->job->id == id && w->job->is_adopted && jobs->adopts && !w->job->is_tool)
            return w;
    }
    buf_str(out,
            "error: the launcher of this job starts its processes; those of `wireup serve` can be "
            "entered\n");
    return NULL;
}

static bool is_awaited(const struct job *job, uint32_t rank)
{
    return rank < job->plan.nprocs && job->procs[rank].state == PROC_STATE_RUNNING;
}

/* One that has been named may be given again: the process may have ended before it came. */
static bool choose(const struct local_job *w, uint32_t *rank_p, struct buf *out)
{
    const struct job *job = w->job;

    if (*rank_p != JOB_NO_RANK && *rank_p >= job->plan.nprocs)
        buf_printf(out, "error: the job has %u ranks, and no rank %u\n", job->plan.nprocs, *rank_p);
    else if (*rank_p != JOB_NO_RANK && !is_awaited(job, *rank_p))
        buf_printf(out, "error: rank %u of the job has come already\n", *rank_p);
    else if (*rank_p != JOB_NO_RANK)
        return true;
    else
        *rank_p = 0;
    if (buf_len(out))
        return false;
    while (*rank_p < job->plan.nprocs &&
           (!is_awaited(job, *rank_p) || rank_set_has(&w->entered, *rank_p)))
        ++*rank_p;
    if (*rank_p < job->plan.nprocs)
        return true;
    buf_printf(out, "error: all %u ranks of the job are taken\n", job->plan.nprocs);
    return false;
}

static void put_vars(struct buf *out, char *const *vars)
{
    for (size_t i = 0; i < UNWANTED; i++)
        buf_printf(out, "-%s\n", unwanted[i]);
    for (; *vars; vars++)
        buf_printf(out, "%s\n", *vars);
}

static void put_json(struct buf *out, const struct job *job, uint32_t rank, char *const *vars)
{
    struct json j;

    json_init(&j, out);
    served_vars_head(&j, "wireup-enter-1", job);
    json_rank_members(&j, rank, vars);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}

void served_vars_enter(struct local_jobs *jobs, struct processes *p, uint32_t job, uint32_t rank,
                       enum served_vars_form form, struct buf *out)
{
    struct local_job *w = served(jobs, job, out);
    char **vars;

    if (!w || !choose(w, &rank, out))
        return;
    vars = served_vars(p, w->job, rank);
    if (!vars || rank_set_add(&w->entered, rank, 1) < 0) {
        buf_str(out, "error: out of memory\n");
        return;
    }
    switch (form) {
    case SERVED_VARS_SHELL: served_vars_line(out, vars); break;
    case SERVED_VARS_JSON: put_json(out, w->job, rank, vars); break;
    case SERVED_VARS_LINES: put_vars(out, vars); break;
    }
    arena_free(&p->env_arena);
}
