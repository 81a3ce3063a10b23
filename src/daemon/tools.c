/* tools.c - see tools.h. */
#include "daemon/tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/effect.h"
#include "core/input.h"
#include "daemon/local_job.h"
#include "daemon/cluster_io.h"

/* Processes of a tool's job: as many as the rank of the tool requires. */
enum { RANKS_MAX = 1024 };

/* ---- files ---- */

const char *tools_dir(void)
{
    return tool_files_dir(NULL, "PMIX_SYSTEM_TMPDIR");
}

static void name_server(char *name, size_t room, int pid)
{
    snprintf(name, room, "wireup-%d", pid);
}

int tools_write(struct tools *t, struct errmsg *err)
{
    const struct node_config *c = t->jobs->context->config;
    struct tool_file what = { t->uri, c->name };
    char dir[TOOL_FILES_PATH_MAX], pid[24];
    int rc;

    if (t->written)
        return 0;
    snprintf(pid, sizeof pid, "%d", (int)(c->guard ? c->guard : getpid()));
    rc = tool_files_begin(&t->contacts, &what, t->dir, pid, dir, err);
    if (rc == 0)
        rc = tool_files_put_tool(&t->contacts, &what, dir, t->name, err);
    if (rc == 0)
        t->written = true;
    else
        tool_files_remove(&t->contacts);
    return rc;
}

/* The file by which a tool that has started us finds us. */
static int write_named(struct tools *t, const struct tool_file *what, struct errmsg *err)
{
    const char *path = getenv("PMIX_LAUNCHER_RENDEZVOUS_FILE");
    struct errmsg why;

    if (!path || !*path || tool_files_put(&t->contacts, what, path, &why) == 0)
        return 0;
    return errmsg_set(err, TOOLS_BAD, "PMIX_LAUNCHER_RENDEZVOUS_FILE: %s; nothing was started",
                      why.text);
}

int tools_begin(struct tools *t, struct errmsg *err)
{
    const struct node_config *c = t->jobs->context->config;
    struct tool_file what = { t->uri, c->name };
    struct errmsg why;
    int rc = 0;

    if (c->tools != NODE_TOOLS_OFF)
        rc = tools_write(t, &why);
    if (rc == 0 && c->tools == NODE_TOOLS_SYSTEM)
        rc = tool_files_put_role(&t->contacts, &what, t->dir, "sys", &why);
    return rc ? errmsg_set(err, TOOLS_BAD, "-tool-files: %s; nothing was started", why.text)
              : write_named(t, &what, err);
}

void tools_open(struct tools *t, struct local_jobs *jobs, uint16_t port)
{
    const struct node_context *c = jobs->context;

    t->jobs = jobs;
    t->dir = c->config->tool_dir ? c->config->tool_dir : tools_dir();
    tool_files_init(&t->contacts);
    name_server(t->name, sizeof t->name, (int)getpid());
    snprintf(t->uri, sizeof t->uri, "%s.0;tcp4://127.0.0.1:%u", t->name, port);
    c->server->core.name = t->name;
    c->server->core.uri = t->uri;
    c->server->core.takes_tools = true;
}

void tools_close(struct tools *t)
{
    if (t->uri[0])
        tool_files_remove(&t->contacts);
}

/* ---- admission ---- */

/* A name that is usable in reports and in names of files. */
static bool is_name(struct slice name)
{
    if (name.len == 0 || name.len > LIMIT_TOOL_NAME)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c <= ' ' || c >= 0x7f)
            return false;
    }
    return true;
}

static uint32_t count_tools(const struct local_jobs *jobs)
{
    uint32_t count = 0;

    LIST_EACH(l, &jobs->all)
    count += LIST_OF(l, const struct local_job, link)->job->is_tool;
    return count;
}

/* NULL, or why the tool is refused; *status_p is the status that it gets. */
static const char *objection(const struct local_jobs *jobs, struct slice name, uint32_t rank,
                             enum answer_status *status_p)
{
    const struct cluster_io *s = jobs->context->cluster;

    *status_p = ANSWER_RESERVED;
    if (s && s->router.config.me != 0)
        return "tools connect to the launcher, and this is the daemon of a node";
    *status_p = ANSWER_OVER_QUOTA;
    if (count_tools(jobs) >= LIMIT_TOOLS)
        return "there are too many tools";
    *status_p = ANSWER_BAD_VALUE;
    if (name.len && (!is_name(name) || rank >= RANKS_MAX))
        return "its name is invalid";
    *status_p = ANSWER_DUPLICATE;
    if (core_job_named(&jobs->context->server->core, name))
        return "there is already a tool with this name";
    *status_p = ANSWER_NO_MEMORY;
    return NULL;
}

/* A job for a tool, which is its last process; NULL: no memory. */
static struct job *tool_job(struct local_jobs *jobs, const char *name, uint32_t nprocs)
{
    struct job_map plan;
    struct job_order o = { .nspace = name,
                           .plan = &plan,
                           .parent = JOB_NO_RANK,
                           .keep_going = true,
                           .here = JOB_ALL_HERE,
                           .is_tool = true };
    struct local_job *w = NULL;

    if (local_job_plan_others(jobs, &plan, nprocs) == 0)
        w = local_job_new(jobs, &o, false);
    if (!w) {
        job_map_free(&plan);
        return NULL;
    }
    local_job_adopt(w);
    server_proc_state(jobs->context->server, w->job, nprocs - 1, PROC_EVENT_STARTED, 0,
                      w->job->procs[nprocs - 1].pid);
    return w->job;
}

void tools_admit(struct tools *t, const struct op_tool_connect *e)
{
    struct local_jobs *jobs = t->jobs;
    struct slice wanted = e->name;
    enum answer_status status;
    const char *why = objection(jobs, wanted, e->rank, &status);
    struct job *j = NULL;
    char name[LIMIT_TOOL_NAME + 1];

    if (wanted.len)
        snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(wanted));
    else
        snprintf(name, sizeof name, "%s-tool-%u", t->name, ++t->last);
    if (!why)
        j = tool_job(jobs, name, wanted.len ? e->rank + 1 : 1);
    if (!j)
        log_warn(jobs->context->log, "refused the tool '%.100s': %s", wanted.len ? name : "",
                 why ? why : "out of memory");
    if (!server_deliver(jobs->context->server,
                        INPUT_AT(clock_now_ns(), tool_reply, .ticket = e->ticket,
                                 .job = j ? j->id : JOB_NO_RANK, .status = status)) &&
        j)
        server_proc_state(jobs->context->server, j, j->plan.nprocs - 1, PROC_EVENT_HANGUP, 0,
                          0); /* it has gone */
}
