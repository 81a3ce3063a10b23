/* side_command.c - see side_command.h. */
#include "daemon/side_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "daemon/path_search.h"
#include "io/child.h"
#include "io/loop.h"

extern char **environ;

enum { CHUNK = 4 << 10 };

/* One of its outputs. */
struct side_output {
    struct side_command *of;
    int fd; /* -1: at its end */
    struct watch watch;
    struct buf text;
};

struct side_command {
    struct list link;
    struct side_commands *all;
    struct side_command_config config;
    pid_t pid; /* 0: reaped */
    struct side_output out, errors;
    struct timer patience;
};

/* ---- ends ------------------------------------------------------------------------------------ */

static void end_output(struct side_output *o)
{
    watch_close(&o->watch);
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
}

void side_command_free(struct side_command *k)
{
    if (!k)
        return;
    if (k->pid)
        kill(k->pid, SIGKILL);
    timer_stop(&k->patience);
    end_output(&k->out);
    end_output(&k->errors);
    list_unlink(&k->link);
    buf_free(&k->out.text);
    buf_free(&k->errors.text);
    free(k);
}

static void finish(struct side_command *k, int status, bool late)
{
    k->config.done(k->config.arg, k, status, late);
    side_command_free(k);
}

static void on_late(void *arg)
{
    finish(arg, 0, true);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Reads what is there.  What is beyond the limit is read, too, so that the command goes on. */
static void drain(struct side_output *o)
{
    char beyond[CHUNK];
    ssize_t n = 1;

    while (o->fd >= 0 && n > 0) {
        char *room = buf_ok(&o->text) ? buf_room(&o->text, CHUNK) : NULL;
        n = read(o->fd, room ? room : beyond, CHUNK);
        if (n > 0 && room)
            buf_commit(&o->text, (size_t)n);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            end_output(o);
    }
}

static void on_output(void *arg)
{
    struct side_output *o = arg;
    struct side_command *k = o->of;

    drain(o);
    if (k->config.more)
        k->config.more(k->config.arg, k);
}

struct slice side_command_out(const struct side_command *k)
{
    return buf_slice(&k->out.text);
}

struct slice side_command_errors(const struct side_command *k)
{
    return buf_slice(&k->errors.text);
}

/* ---- the start ------------------------------------------------------------------------------- */

struct command_fds {
    int in, out, errors; /* the command's; -1: closed */
};

static void close_ends(struct command_fds *e)
{
    const int all[] = { e->in, e->out, e->errors };

    for (int i = 0; i < 3; i++) {
        if (all[i] >= 0)
            close(all[i]);
    }
}

/* A pipe holds all of it. */
static int give_input(struct slice text, int *fd_p)
{
    int ends[2], rc = 0;

    if (text.len > SIDE_COMMAND_INPUT || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return text.len > SIDE_COMMAND_INPUT ? -EMSGSIZE : -errno;
    if (text.len && write(ends[1], text.ptr, text.len) != (ssize_t)text.len)
        rc = -EIO;
    close(ends[1]);
    if (rc == 0 && fcntl(ends[0], F_SETFL, 0) < 0)
        rc = -errno;
    if (rc < 0)
        close(ends[0]);
    else
        *fd_p = ends[0];
    return rc;
}

static int take_output(struct side_output *o, loop_fn *fn, int *fd_p)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    *fd_p = ends[1];
    o->fd = ends[0];
    if (fcntl(o->fd, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    watch_open(&o->watch, o->of->all->loop, o->fd, fn, NULL, o);
    return watch_want(&o->watch, LOOP_READ);
}

static int run(struct side_command *k, const struct command_fds *e, struct errmsg *err)
{
    const struct child_fd fds[] = { { e->in, 0 }, { e->out, 1 }, { e->errors, 2 } };
    struct child_plan plan = { .argv = (char *const *)(uintptr_t)k->config.words,
                               .env = k->config.env ? k->config.env : environ,
                               .fds = fds,
                               .nfds = 3 };
    struct arena a = ARENA_NULL(1 << 16);
    int rc =
        path_search_program(&a, k->config.words[0], NULL, getenv("PATH"), true, &plan.path, err);

    if (rc == 0)
        rc = child_start(&plan, &k->pid, err);
    arena_free(&a);
    return rc;
}

static int begin(struct side_command *k, struct errmsg *err)
{
    struct command_fds e = { -1, -1, -1 };
    int rc = give_input(k->config.input, &e.in);

    if (rc == 0)
        rc = take_output(&k->out, on_output, &e.out);
    if (rc == 0)
        rc = take_output(&k->errors, on_output, &e.errors);
    if (rc == 0 && k->config.patience_ms)
        rc = timer_set(&k->patience, k->config.patience_ms);
    rc = rc < 0 ? errmsg_set(err, rc, "cannot start %.200s: %s", k->config.words[0], err_text(rc))
                : run(k, &e, err);
    close_ends(&e);
    return rc;
}

struct side_command *side_command_start(struct side_commands *s,
                                        const struct side_command_config *config,
                                        struct errmsg *err)
{
    struct side_command *k = calloc(1, sizeof *k);

    if (!k) {
        errmsg_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    *k = (struct side_command){ .all = s, .config = *config };
    k->out = (struct side_output){ .of = k, .fd = -1 };
    k->errors = (struct side_output){ .of = k, .fd = -1 };
    buf_init(&k->out.text, SIDE_COMMAND_OUTPUT);
    buf_init(&k->errors.text, SIDE_COMMAND_OUTPUT);
    timer_init(&k->patience, s->loop, on_late, k);
    list_append(&s->all, &k->link);
    if (begin(k, err) == 0)
        return k;
    side_command_free(k);
    return NULL;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* False: it has not ended in time. */
static bool ends_by(pid_t pid, uint64_t until_ns)
{
    struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
    int rc = -1;

    for (uint64_t now = clock_now_ns(); p.fd >= 0 && rc < 0 && now < until_ns; now = clock_now_ns())
        rc = poll(&p, 1, (int)((until_ns - now) / NS_PER_MS + 1));
    if (p.fd >= 0)
        close(p.fd);
    return rc > 0;
}

static void await(struct side_command *k, uint64_t until_ns)
{
    int status;

    if (!ends_by(k->pid, until_ns))
        kill(k->pid, SIGKILL);
    while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    k->pid = 0;
}

void side_commands_await(struct side_commands *s, uint32_t ms)
{
    uint64_t until_ns = clock_now_ns() + ms * NS_PER_MS;

    LIST_EACH(l, &s->all)
    await(LIST_OF(l, struct side_command, link), until_ns);
}

bool side_commands_reaped(struct side_commands *s, pid_t pid, int status)
{
    if (!s->loop)
        return false;
    LIST_EACH(l, &s->all)
    {
        struct side_command *k = LIST_OF(l, struct side_command, link);
        if (k->pid != pid)
            continue;
        k->pid = 0;
        drain(&k->out);
        drain(&k->errors);
        finish(k, status, false);
        return true;
    }
    return false;
}

void side_commands_open(struct side_commands *s, struct loop *loop)
{
    s->loop = loop;
    list_init(&s->all);
}

void side_commands_close(struct side_commands *s)
{
    if (!s->loop)
        return;
    LIST_EACH(l, &s->all)
    side_command_free(LIST_OF(l, struct side_command, link));
    s->loop = NULL;
}
