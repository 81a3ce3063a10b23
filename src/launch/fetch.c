/* fetch.c - see fetch.h.  Reading order: one trace; all of them; the command. */
#include "launch/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "daemon/launch_methods.h"
#include "io/create.h"
#include "tools/command_json.h"
#include "tools/trace_set.h"

extern char **environ;

enum { FETCH_AT_ONCE = 32 };

/* ---- one trace ------------------------------------------------------------------------------- */

struct fetched {
    const struct trace_member *member;
    const char *part;  /* where it is written until it is whole */
    pid_t pid;         /* of the command; 0: there is none */
    struct errmsg why; /* empty: it is there */
};

struct fetching {
    const struct command_line *line;
    struct agent_spec spec;
    struct trace_set set;
    struct fetched *all;
    uint32_t n, bad;
};

/* "ssh n2 'cat /tmp/trace.n2'"; the path is the same there. */
static int make_command(struct fetching *f, struct fetched *one, const char **command_p)
{
    struct arena *a = &f->set.arena;
    struct bootstrap_node node = { .name = one->member->node };
    char full[PATH_MAX];
    const char *words, *slash = strrchr(one->member->path, '/');
    char *dir = arena_printf(a, "%.*s", slash ? (int)(slash - one->member->path) + 1 : 1,
                             slash ? one->member->path : ".");
    char *cat, *outer;
    int rc;

    if (!dir || !realpath(dir, full))
        return errmsg_set(&one->why, 1, "%s", err_text(errno));
    rc = agent_reach(&f->spec, &node, a, &words, &one->why);
    if (rc)
        return rc;
    cat = arena_printf(a, "%s/%s", full, slash ? slash + 1 : one->member->path);
    cat = cat ? agent_word(a, cat) : NULL;
    cat = cat ? arena_printf(a, "cat %s", cat) : NULL;
    outer = cat && words[0] ? agent_word(a, cat) : cat;
    *command_p = outer && words[0] ? arena_printf(a, "%s %s", words, outer) : outer;
    return *command_p ? 0 : errmsg_set(&one->why, -ENOMEM, "out of memory");
}

static int run_into(struct fetched *one, int fd, const char *command)
{
    char *argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", (char *)(uintptr_t)command,
                     NULL };
    posix_spawn_file_actions_t acts;
    int rc = posix_spawn_file_actions_init(&acts);

    if (rc)
        return rc;
    rc = posix_spawn_file_actions_addopen(&acts, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&acts, fd, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawn(&one->pid, "/bin/sh", &acts, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&acts);
    return rc;
}

static void begin_one(struct fetching *f, struct fetched *one)
{
    const char *command = NULL;
    int fd, rc;

    one->part = arena_printf(&f->set.arena, "%s.part", one->member->path);
    if (!one->part) {
        errmsg_set(&one->why, 1, "out of memory");
        return;
    }
    if (make_command(f, one, &command))
        return;
    unlink(one->part); /* of one that was interrupted */
    fd = create_new(one->part);
    rc = fd < 0 ? -fd : run_into(one, fd, command);
    if (rc)
        errmsg_set(&one->why, 1, "%s", err_text_of_start(rc));
    if (fd >= 0)
        close(fd);
}

static bool is_trace(const char *path)
{
    struct trace_clock c = TRACE_CLOCK_NULL;

    trace_clock_scan(&c, path);
    return c.wall_ns != 0;
}

static void end_one(struct fetched *one)
{
    int status = 0, rc;

    while (one->pid && waitpid(one->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (one->pid && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        errmsg_set(&one->why, 1, "the command that reads it there has failed");
    else if (one->pid && !is_trace(one->part))
        errmsg_set(&one->why, 1, "what has come is no trace");
    else if (one->pid && (rc = create_name(one->part, one->member->path)) < 0)
        errmsg_set(&one->why, 1, "%s", err_text(rc));
    if (one->part)
        unlink(one->part);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void fetch_all(struct fetching *f)
{
    for (uint32_t from = 0; from < f->n; from += FETCH_AT_ONCE) {
        uint32_t to = f->n - from < FETCH_AT_ONCE ? f->n : from + FETCH_AT_ONCE;
        for (uint32_t i = from; i < to; i++)
            begin_one(f, &f->all[i]);
        for (uint32_t i = from; i < to; i++) {
            end_one(&f->all[i]);
            f->bad += f->all[i].why.text[0] != '\0';
        }
    }
}

static int find_missing(struct fetching *f)
{
    f->all = calloc((size_t)f->set.n + 1, sizeof *f->all);
    if (!f->all)
        return -ENOMEM;
    for (uint32_t i = 1; i < f->set.n; i++) {
        if (f->set.members[i].missing || (f->set.members[i].inside && !f->set.members[i].whole))
            f->all[f->n++].member = &f->set.members[i];
    }
    return 0;
}

static void print_json(const struct fetching *f, struct json *j)
{
    json_array(j, "traces");
    for (uint32_t i = 0; i < f->n; i++) {
        json_object(j, NULL);
        json_str(j, "node", f->all[i].member->node);
        json_str(j, "path", f->all[i].member->path);
        json_bool(j, "fetched", !f->all[i].why.text[0]);
        json_str(j, "text", f->all[i].why.text);
        json_object_end(j);
    }
    json_array_end(j);
}

static int print(const struct fetching *f)
{
    struct command_json o;
    int code = f->bad ? 1 : 0;

    for (uint32_t i = 0; i < f->n; i++) {
        if (f->all[i].why.text[0])
            log_error(f->line->log, "the trace of node %s: %s", f->all[i].member->node,
                      f->all[i].why.text);
    }
    if (f->line->choices[CHOICE_fetch_json]) {
        command_json_begin(&o, "wireup-fetch-1");
        print_json(f, &o.json);
        return command_json_end(&o, code);
    }
    printf("%u of %u traces of other nodes fetched\n", f->n - f->bad, f->n);
    return fflush(stdout) == 0 ? code : 1;
}

/* ---- the command ----------------------------------------------------------------------------- */

int fetch_command(const struct command_line *l)
{
    const char *exec = l->choices[CHOICE_fetch_launcher_exec];
    struct fetching f = {
        .line = l, .spec = { .kind = exec ? agent_kind_of(exec) : AGENT_SSH, .exec = exec }
    };
    int code = 2;

    if (trace_set_init(&f.set, l->log, l->operand) < 0) {
        log_error(l->log, "out of memory");
        return 2;
    }
    trace_set_scan(&f.set);
    if (!f.set.is_launcher) {
        log_error(l->log, "%s is no trace of a launcher", l->operand);
    } else if (find_missing(&f) < 0) {
        log_error(l->log, "out of memory");
    } else {
        fetch_all(&f);
        code = print(&f);
    }
    free(f.all);
    trace_set_free(&f.set);
    return code;
}
