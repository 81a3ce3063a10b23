/* daemons.c - brings the daemons of a job up and down again, as the launcher does, and prints what
 * happens: for tests of daemons and of what starts them.
 *
 *   e2e-daemons [-kind K] [-exec CMD] [-args WORDS] [-wireupd PATH] [-width K] [-hold] NODE...
 *
 * Lines on standard output:  up POSITION HOST,  failed POSITION SENTENCE,  remark SENTENCE,
 * lost POSITION SENTENCE,  all up,  addresses ...,  closed.  With -hold it stays, once all are up,
 * until its standard input ends.  Exit status 0: all came up and went. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "cluster/msg.h"
#include "io/child.h"
#include "daemon/router_io.h"
#include "daemon/child_daemons.h"

extern char **environ;

static struct loop loop;
static struct router router;
static struct router_io router_io;
static struct child_daemons child_daemons;
static struct daemon_states daemons;
static struct bootstrap boot;
static struct watch children, input;
static unsigned ready, failed;
static bool hold, ending;
static const struct log complaints = { STDERR_FILENO, LOG_WARN, "e2e-daemons", NULL };

static void print_event(const char *what, int64_t position, struct slice text)
{
    printf("%s", what);
    if (position >= 0)
        printf(" %lld", (long long)position);
    printf(" " SLICE_FMT "\n", SLICE_ARG(text));
    fflush(stdout);
}

static void leave(void)
{
    struct msg m = { .kind = MSG_quit, .to = MSG_EVERYBODY };

    if (ending)
        return;
    ending = true;
    router_send(&router, &m);
    child_daemons_end(&child_daemons);
    router_end(&router);
}

static void check(void)
{
    if ((ready < boot.count - 1 && !failed) || ending)
        return;
    if (failed == 0)
        print_event("all", -1, SLICE("up"));
    if (failed || !hold)
        leave();
}

static void on_message(void *arg, const struct msg *m)
{
    (void)arg;
    if (m->kind != MSG_launch_error)
        return;
    if (!m->u.launch_error.fatal) {
        print_event("remark", -1, m->u.launch_error.text);
        return;
    }
    failed++;
    print_event("failed", m->u.launch_error.position, m->u.launch_error.text);
    check();
}

static void on_ready(void *arg, uint32_t position, struct slice host)
{
    (void)arg;
    ready++;
    print_event("up", position, host);
    check();
}

static bool on_near(void *arg, uint32_t position)
{
    (void)arg;
    child_daemons_up(&child_daemons, position);
    return true;
}

static void on_lost(void *arg, uint32_t position, const char *why)
{
    (void)arg;
    failed++;
    print_event("lost", position, slice_str(why));
    leave();
}

static void on_orphan(void *arg, const char *why)
{
    (void)arg;
    (void)why;
}

static bool closed;

static void maybe_done(void)
{
    if (closed && child_daemons_idle(&child_daemons)) {
        print_event("closed", -1, SLICE_NULL);
        loop_stop(&loop);
    }
}

static void on_closed(void *arg)
{
    (void)arg;
    closed = true;
    maybe_done();
}

static void on_failed(void *arg, uint32_t position, const struct errmsg *why)
{
    (void)arg;
    failed++;
    print_event("failed", position, slice_str(why->text));
    check();
}

static void on_remark(void *arg, const char *node, struct slice line)
{
    (void)arg;
    printf("remark %s: " SLICE_FMT "\n", node, SLICE_ARG(line));
    fflush(stdout);
}

static void on_children(void *arg)
{
    struct signalfd_siginfo info;
    pid_t pid;
    int status;

    (void)arg;
    if (read(children.fd, &info, sizeof info) < 0)
        return;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        child_daemons_reaped(&child_daemons, pid, status);
    maybe_done();
}

static void on_input(void *arg)
{
    char c;

    (void)arg;
    if (read(STDIN_FILENO, &c, 1) == 1)
        return;
    watch_close(&input);
    leave();
}

static void watch_all(void)
{
    sigset_t set;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    watch_open(&children, &loop, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), on_children, NULL,
               NULL);
    watch_want(&children, LOOP_READ);
    watch_open(&input, &loop, STDIN_FILENO, on_input, NULL, NULL);
    if (hold && watch_want(&input, LOOP_READ) < 0)
        hold = false;
}

static int fail(const struct errmsg *err)
{
    fprintf(stderr, "e2e-daemons: %s\n", err->text);
    return 1;
}

static const char *option(int *argc, char ***argv, const char *name)
{
    const char *value;

    if (*argc < 2 || strcmp(**argv, name) != 0)
        return NULL;
    value = (*argv)[1];
    *argc -= 2;
    *argv += 2;
    return value;
}

static void read_options(int *argc, char ***argv, struct agent_spec *spec, uint32_t *width)
{
    const char *v;

    for (;;) {
        if ((v = option(argc, argv, "-kind"))) {
            if (!agent_kind_read(v, &spec->kind))
                exit(2);
        } else if ((v = option(argc, argv, "-exec"))) {
            spec->exec = v;
        } else if ((v = option(argc, argv, "-args"))) {
            spec->args = v;
        } else if ((v = option(argc, argv, "-wireupd"))) {
            spec->wireupd = v;
            spec->wireupd_given = true;
        } else if ((v = option(argc, argv, "-width"))) {
            *width = (uint32_t)atoi(v);
        } else if (*argc && strcmp(**argv, "-hold") == 0) {
            hold = true;
            (*argc)--;
            (*argv)++;
        } else {
            return;
        }
    }
}

int main(int argc, char **argv)
{
    static char place[4096];
    struct arena arena = ARENA_NULL(64 << 20);
    struct agent_spec spec = { .kind = AGENT_FORK };
    struct errmsg err = { "" };
    struct buf ours = BUF_NULL(65536);
    struct router_io_config c = { .router = { .log = &complaints,
                                              .host = "launcher",
                                              .calls = { .on_message = on_message,
                                                         .on_ready = on_ready,
                                                         .on_lost = on_lost,
                                                         .on_orphan = on_orphan,
                                                         .on_closed = on_closed,
                                                         .on_near = on_near } },
                                  .loop = &loop };
    struct child_daemons_config w = { .loop = &loop,
                                      .boot = &boot,
                                      .envp = environ,
                                      .daemons = &daemons,
                                      .calls = { NULL, on_failed, on_remark } };
    uint32_t width = 4;

    argc--;
    argv++;
    read_options(&argc, &argv, &spec, &width);
    if (argc == 0 || sodium_init() < 0)
        return 2;
    child_adopt_orphans();
    if (!spec.wireupd) {
        remote_exec_find_wireupd(place);
        spec.wireupd = place;
    }
    boot.count = (uint32_t)argc + 1;
    boot.width = child_daemons_width(spec.kind, boot.count, width);
    if (bootstrap_make_key(&boot) < 0)
        return 99;
    randombytes_buf(boot.key, BOOTSTRAP_KEY);
    c.key = boot.key;
    boot.nodes = arena_array(&arena, (size_t)argc, sizeof *boot.nodes);
    for (int i = 0; i < argc; i++)
        boot.nodes[boot.nnodes++] = (struct bootstrap_node){ (uint32_t)i + 1, argv[i], NULL, 0 };
    c.router.count = boot.count;
    c.router.width = boot.width;
    loop_init(&loop);
    watch_all();
    if (agent_spec_put(&spec, &arena, &boot) || router_io_open(&router_io, &router, &c, &err) ||
        router_io_addresses(&router_io, &ours, &err) ||
        daemon_states_open(&daemons, boot.count, &complaints))
        return fail(&err);
    w.spec = spec;
    w.addresses = buf_cstr(&ours);
    print_event("addresses", -1, buf_slice(&ours));
    if (child_daemons_open(&child_daemons, &w, &err))
        return fail(&err);
    loop_run(&loop);
    child_daemons_close(&child_daemons);
    daemon_states_close(&daemons);
    router_io_close(&router_io);
    watch_close(&children);
    watch_close(&input);
    loop_free(&loop);
    buf_free(&ours);
    arena_free(&arena);
    return failed ? 1 : 0;
}
