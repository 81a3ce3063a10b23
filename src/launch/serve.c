/* serve.c - see serve.h. */
#include "launch/serve.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "daemon/node.h"
#include "daemon/distant_launchers.h"
#include "daemon/served_job.h"
#include "daemon/supervisor.h"
#include "daemon/tools.h"
#include "io/child.h"
#include "io/tool_files.h"
#include "io/write_all.h"
#include "launch/options.h"

enum { SERVE_TEXT_MAX = 1 << 30 };

struct serve {
    const struct command_line *line;
    struct log log;
    struct session_dir sessions;
    uint64_t begun_ns;
    uint32_t count, timeout_s;
    pid_t guard;
    int control_fd;
};

static bool number(const struct serve *s, int choice, uint32_t least, uint32_t most,
                   uint32_t *value_p)
{
    const char *word = s->line->choices[choice];
    uint32_t v;

    if (!word)
        return true;
    if (slice_u32(slice_str(word), &v) && v >= least && v <= most) {
        *value_p = v;
        return true;
    }
    log_error(&s->log, "serve: --" SLICE_FMT " must be a number from %u to %u, not '%s'",
              SLICE_ARG(command_choice_name(&command_rows[COMMAND_serve].choices[choice])), least,
              most, word);
    return false;
}

/* The worker cannot clean up after itself any more. */
static void worker_killed(void *arg, const char *sentence)
{
    struct serve *s = arg;

    tool_files_clear(tools_dir());
    session_dir_remove(&s->sessions);
    log_error(&s->log, "%s", sentence);
}

/* What the processes need goes out before the first of them can come. */
static int print(struct node *node, bool json, struct errmsg *err)
{
    struct buf text = BUF_NULL(SERVE_TEXT_MAX);
    int rc;

    served_job_print(node, json, &text);
    rc = buf_ok(&text) ? write_all_slice(STDOUT_FILENO, buf_slice(&text)) : -ENOMEM;
    buf_free(&text);
    if (rc < 0)
        errmsg_set(err, rc, "cannot write what the processes need: %s", err_text(rc));
    return rc < 0 ? rc : 0;
}

static int begin(const struct serve *s, struct node *node, struct errmsg *err)
{
    const char *trace = s->line->choices[CHOICE_serve_trace];
    int rc = trace ? node_record(node, trace, err) : 0;

    if (rc == 0)
        rc = served_job_start(node, s->count, err);
    if (rc == 0)
        rc = print(node, s->line->choices[CHOICE_serve_json] != NULL, err);
    return rc;
}

static int serve_job(struct serve *s)
{
    char host[256] = "localhost";
    struct node_config config = { .log = s->log,
                                  .name = host,
                                  .control_fd = s->control_fd,
                                  .guard = s->guard,
                                  .stdin_to = NODE_STDIN_NONE,
                                  .timeout_s = s->timeout_s,
                                  .pmi_port = true,
                                  .hostname = true,
                                  .begun_ns = s->begun_ns,
                                  .planned_ns = clock_now_ns(),
                                  .sessions = &s->sessions };
    const struct distant_launchers_config distant = {
        .dir = s->line->choices[CHOICE_serve_launchers_dir]
    };
    struct errmsg err = { "" };
    struct node *node;
    int code = 1, rc;

    config.distant = distant.dir ? &distant : NULL;
    if (gethostname(host, sizeof host - 1) < 0)
        log_info(&s->log, "this machine has no name: %s", err_text(-errno));
    child_raise_nofile();
    node = node_new(&config, &err);
    rc = node ? begin(s, node, &err) : -EIO;
    if (rc == 0)
        code = node_run(node);
    else
        log_error(node ? node_log(node) : &s->log, "%s", err.text);
    if (rc == NODE_BAD_FILE)
        code = launch_exit_code(LAUNCH_USAGE);
    node_free(node);
    return code;
}

int serve_command(const struct command_line *l)
{
    struct serve s = {
        .line = l, .log = *l->log, .begun_ns = clock_now_ns(), .count = 1, .guard = getpid()
    };

    if (!number(&s, CHOICE_serve_n, 1, LIMIT_JOB_PROCS, &s.count) ||
        !number(&s, CHOICE_serve_timeout, 1, UINT32_MAX / 1000, &s.timeout_s))
        return launch_exit_code(LAUNCH_USAGE);
    session_dir_name(&s.sessions, tool_files_dir(NULL, "TMPDIR"));
    if (supervisor_split(&s.log, worker_killed, &s, &s.control_fd) < 0) {
        log_error(&s.log, "cannot start the worker process: %s", err_text(errno));
        return launch_exit_code(LAUNCH_REFUSED);
    }
    supervisor_limit(s.control_fd, s.begun_ns, s.timeout_s);
    return serve_job(&s);
}
