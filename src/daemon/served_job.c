/* served_job.c - see served_job.h. */
#include "daemon/served_job.h"

#include <errno.h>

#include "base/json.h"
#include "core/job.h"
#include "daemon/node_priv.h"
#include "daemon/served_vars.h"

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

static void each_rank(struct node *n, const struct job *job, struct json *json, struct buf *out)
{
    for (uint32_t r = 0; r < job->plan.nprocs && buf_ok(out); r++) {
        char **vars = served_vars(&n->processes, job, r);
        if (!vars)
            out->error = BUF_NO_MEMORY;
        else if (json)
            served_vars_rank(json, r, vars);
        else
            served_vars_line(out, vars);
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
    served_vars_head(&j, "wireup-serve-1", job);
    json_array(&j, "ranks");
    each_rank(n, job, &j, out);
    json_array_end(&j);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}
