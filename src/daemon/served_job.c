/* served_job.c - see served_job.h. */
#include "daemon/served_job.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "core/job.h"
#include "daemon/node_priv.h"
#include "daemon/process_env.h"

extern char **environ;

/* Left over from another launcher, they would be preferred. */
static const char *const unwanted[] = { "PMI_FD", "PMI2_FD", "WIREUP_FD", "PMI_SPAWNED" };

enum { UNWANTED = sizeof unwanted / sizeof *unwanted };

/* ---- start ----------------------------------------------------------------------------------- */

int served_job_start(struct node *n, uint32_t count, struct errmsg *err)
{
    struct local_job *w;
    struct job_map plan;
    int rc;

    if (local_job_plan_others(&n->jobs, &plan, count) < 0) {
        job_map_free(&plan);
        return errmsg_set(err, -ENOMEM, "out of memory for a job of %u processes", count);
    }
    plan.universe = count;
    plan.nodes[0].nprocs = count;
    n->jobs.adopts = true;
    rc = node_start(n, &plan, err);
    if (rc != 0)
        return rc;
    w = LIST_OF(list_first(&n->jobs.all), struct local_job, link);
    local_job_adopt(w);
    for (uint32_t r = 0; r < count; r++)
        server_proc_state(&n->server, w->job, r, PROC_EVENT_STARTED, 0, 0);
    return 0;
}

/* ---- environment ----------------------------------------------------------------------------- */

/* The variables that are ours: behind those of the application, which are our own environment. */
static char **vars_of(struct node *n, const struct job *job, uint32_t rank)
{
    char **vars = process_env(&n->processes, job, rank);

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

static void line_of(struct buf *out, char *const *vars)
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

static void json_rank(struct json *j, uint32_t rank, char *const *vars)
{
    json_object(j, NULL);
    json_u64(j, "rank", rank);
    json_object(j, "environment");
    for (; *vars; vars++) {
        size_t name = strcspn(*vars, "=");
        json_key(j, slice_mem(*vars, name));
        json_str(j, NULL, *vars + name + 1);
    }
    json_object_end(j);
    json_object_end(j);
}

static void json_head(struct json *j, const struct job *job)
{
    json_object(j, NULL);
    json_str(j, "schema", "wireup-serve-1");
    json_str(j, "namespace", job->nspace);
    json_i64(j, "server_pid", getpid());
    json_array(j, "unset");
    for (size_t i = 0; i < UNWANTED; i++)
        json_str(j, NULL, unwanted[i]);
    json_array_end(j);
    json_array(j, "ranks");
}

static void each_rank(struct node *n, const struct job *job, struct json *json, struct buf *out)
{
    for (uint32_t r = 0; r < job->plan.nprocs && buf_ok(out); r++) {
        char **vars = vars_of(n, job, r);
        if (!vars)
            out->error = BUF_NO_MEMORY;
        else if (json)
            json_rank(json, r, vars);
        else
            line_of(out, vars);
        arena_free(&n->processes.env_arena);
    }
}

void served_job_print(struct node *n, bool json, struct buf *out)
{
    const struct job *job = core_job(&n->server.core, n->jobs.first);
    struct json j;

    if (!json) {
        each_rank(n, job, NULL, out);
        return;
    }
    json_init(&j, out);
    json_head(&j, job);
    each_rank(n, job, &j, out);
    json_array_end(&j);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}
