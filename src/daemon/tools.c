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
#include "daemon/node_priv.h"
#include "daemon/local_job.h"
#include "daemon/multinode.h"

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

int tools_write(struct tools *t, struct node *n, struct errmsg *err)
{
    struct tool_file what = { t->uri, n->config.name };
    char dir[TOOL_FILES_PATH_MAX], pid[24];
    int rc;

    if (t->written)
        return 0;
    snprintf(pid, sizeof pid, "%d", (int)(n->config.guard ? n->config.guard : getpid()));
    rc = tool_files_begin(&t->contacts, &what, n->config.tool_dir, pid, dir, err);
    if (rc == 0)
        rc = tool_files_put_tool(&t->contacts, &what, dir, t->name, err);
    if (rc == 0)
        t->written = true;
    else
        tool_files_remove(&t->contacts);
    return rc;
}

int tools_begin(struct tools *t, struct node *n, struct errmsg *err)
{
    struct tool_file what = { t->uri, n->config.name };
    struct errmsg why;
    int rc = 0;

    if (n->config.tools != NODE_TOOLS_OFF)
        rc = tools_write(t, n, &why);
    if (rc == 0 && n->config.tools == NODE_TOOLS_SYSTEM)
        rc = tool_files_put_system(&t->contacts, &what, n->config.tool_dir, &why);
    return rc ? errmsg_set(err, TOOLS_BAD, "-tool-files: %s; nothing was started", why.text) : 0;
}

void tools_open(struct tools *t, struct node *n)
{
    tool_files_init(&t->contacts);
    name_server(t->name, sizeof t->name, (int)getpid());
    snprintf(t->uri, sizeof t->uri, "%s.0;tcp4://127.0.0.1:%u", t->name, n->conns.port);
    n->server.core.name = t->name;
    n->server.core.uri = t->uri;
    n->server.core.takes_tools = true;
    if (!n->config.tool_dir)
        n->config.tool_dir = tools_dir();
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

static uint32_t count_tools(const struct node *n)
{
    uint32_t count = 0;

    LIST_EACH(l, &n->works)
    count += LIST_OF(l, const struct local_job, link)->job->is_tool;
    return count;
}

/* NULL, or why the tool is refused; *status_p is what it is told. */
static const char *objection(const struct node *n, struct slice name, uint32_t rank,
                             enum answer_status *status_p)
{
    *status_p = ANSWER_RESERVED;
    if (n->multinode && n->multinode->router.config.me != 0)
        return "tools connect to the launcher, and this is the daemon of a node";
    *status_p = ANSWER_OVER_QUOTA;
    if (count_tools(n) >= LIMIT_TOOLS)
        return "there are too many tools";
    *status_p = ANSWER_BAD_VALUE;
    if (name.len && (!is_name(name) || rank >= RANKS_MAX))
        return "its name is invalid";
    *status_p = ANSWER_DUPLICATE;
    if (core_job_named(&n->server.core, name))
        return "there is already a tool with this name";
    *status_p = ANSWER_NO_MEMORY;
    return NULL;
}

/* A job for a tool, which is its last process; NULL: no memory. */
static struct job *tool_job(struct node *n, const char *name, uint32_t nprocs)
{
    struct job_map plan;
    struct job_order o = { .nspace = name,
                           .plan = &plan,
                           .parent = JOB_NO_RANK,
                           .keep_going = true,
                           .here = JOB_ALL_HERE,
                           .is_tool = true };
    struct local_job *w = NULL;

    if (local_job_plan_others(n, &plan, nprocs) == 0)
        w = local_job_new(n, &o);
    if (!w) {
        job_map_free(&plan);
        return NULL;
    }
    w->next = nprocs;
    server_proc_state(&n->server, w->job, nprocs - 1, PROC_EVENT_STARTED, 0,
                      w->job->procs[nprocs - 1].pid);
    return w->job;
}

void tools_admit(struct node *n, const struct op_tool *e)
{
    struct slice wanted = e->name;
    enum answer_status status;
    const char *why = objection(n, wanted, e->rank, &status);
    struct job *j = NULL;
    char name[LIMIT_TOOL_NAME + 1];

    if (wanted.len)
        snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(wanted));
    else
        snprintf(name, sizeof name, "%s-tool-%u", n->tools.name, ++n->tools.last);
    if (!why)
        j = tool_job(n, name, wanted.len ? e->rank + 1 : 1);
    if (!j)
        log_warn(&n->config.log, "refused the tool '%.100s': %s", wanted.len ? name : "",
                 why ? why : "out of memory");
    if (!server_deliver(&n->server, INPUT_AT(clock_now_ns(), tool_reply, .ticket = e->ticket,
                                             .job = j ? j->id : JOB_NO_RANK, .status = status)) &&
        j)
        server_proc_state(&n->server, j, j->plan.nprocs - 1, PROC_EVENT_HANGUP, 0,
                          0); /* it has gone */
}
