/* node_test.c - a node with real processes that behave as badly as they can.
 *
 * Run as `node-test MODE` this program is one of these processes.  Each test runs a node in a child
 * of its own, whose standard streams are pipes of ours. */
#include "daemon/node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/child.h"
#include "io/rendezvous.h"
#include "tests/alloc.h"
#include "tests/plan.h"
#include "tests/tap.h"
#include "daemon/node_priv.h"

enum { PMI_FD = 3, SHORT_MS = 500, FEW_BYTES = 4096 };

static char self[PATH_MAX];

/* ---- processes ------------------------------------------------------------------------------- */

static void write_line(const char *text)
{
    if (write(PMI_FD, text, strlen(text)) != (ssize_t)strlen(text))
        _exit(90);
}

static void read_line(const char *line)
{
    char got[4096];
    size_t n = 0;

    while (n + 1 < sizeof got && read(PMI_FD, got + n, 1) == 1 && got[n] != '\n')
        n++;
    got[n] = '\0';
    if (!strstr(got, line))
        _exit(91);
}

static int be_good(void)
{
    write_line("cmd=init pmi_version=1 pmi_subversion=1\n");
    read_line("rc=0");
    write_line("cmd=barrier_in\n");
    read_line("barrier_out");
    write_line("cmd=finalize\n");
    read_line("finalize_ack");
    return 0;
}

/* Sends requests until the node takes no more, then reads all answers. */
static int be_pipeliner(void)
{
    static const char request[] = "cmd=get kvsname= key=a\n";
    static char chunk[1 << 16];
    char put[1100];
    size_t sent = 0, answers = 0;
    ssize_t n;

    write_line("cmd=init pmi_version=1 pmi_subversion=1\n");
    read_line("rc=0");
    snprintf(put, sizeof put, "cmd=put kvsname= key=a value=%01000d\n", 7);
    write_line(put);
    read_line("put_result"); /* one of us is the first */
    fcntl(PMI_FD, F_SETFL, O_NONBLOCK);
    for (int quiet = 0; quiet < 5;) { /* the server may still be reading earlier bytes */
        struct pollfd p = { PMI_FD, POLLOUT, 0 };
        if (write(PMI_FD, request, sizeof request - 1) == (ssize_t)sizeof request - 1)
            sent++, quiet = 0;
        else if (errno != EAGAIN)
            return 92;
        else
            quiet += poll(&p, 1, 50) == 0;
    }
    fcntl(PMI_FD, F_SETFL, 0);
    while (answers < sent && (n = read(PMI_FD, chunk, sizeof chunk)) > 0) {
        for (ssize_t i = 0; i < n; i++)
            answers += chunk[i] == '\n';
    }
    if (answers != sent || sent < 100)
        return 93;
    write_line("cmd=finalize\n");
    read_line("finalize_ack");
    return 0;
}

/* Leaves a child that never stops writing, both to its connection and to its output. */
static int be_father_of_talker(void)
{
    static const char text[] = "cmd=get_maxes\n";

    write_line("cmd=init pmi_version=1 pmi_subversion=1\n");
    read_line("rc=0");
    if (fork() == 0) {
        fcntl(PMI_FD, F_SETFL, O_NONBLOCK);
        fcntl(1, F_SETFL, O_NONBLOCK);
        for (;;) {
            if (write(PMI_FD, text, sizeof text - 1) < 0 && errno != EAGAIN)
                break;
            if (write(1, "talk\n", 5) < 0 && errno != EAGAIN)
                break;
        }
        pause();
    }
    return 5;
}

/* Long lines on both streams, in pieces. */
static int be_chatter(void)
{
    static char line[3001];

    memset(line, 'a' + atoi(getenv("PMI_RANK")) % 26, 3000);
    line[3000] = '\n';
    for (int i = 0; i < 60; i++) {
        for (size_t at = 0; at < sizeof line; at += 1000) {
            size_t n = sizeof line - at < 1000 ? sizeof line - at : 1000;
            if (write(1 + i % 2, line + at, n) != (ssize_t)n)
                return 94;
        }
    }
    return 0;
}

static int connect_port(void)
{
    const char *at = getenv("PMI_PORT") ? getenv("PMI_PORT") : getenv("PMIX_SERVER_URI41");
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_port = htons((uint16_t)atoi(at ? strrchr(at, ':') + 1 : "0"));
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        _exit(96);
    return fd;
}

/* More silent connections than the node has descriptors; then one that sends something. */
static int be_crowd(void)
{
    struct rlimit r;
    char line[64];

    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
    for (int i = 0; i < 200; i++)
        connect_port();
    dup2(connect_port(), PMI_FD);
    snprintf(line, sizeof line, "cmd=initack pmiid=%s\n", getenv("PMI_ID"));
    write_line(line);
    for (int i = 0; i < 4; i++)
        read_line("cmd=");
    return be_good();
}

/* The control socket of our node. */
static int connect_control(void)
{
    struct launcher_name *all;
    int n = rendezvous_list(&all), fd = -1;

    for (int i = 0; i < n && fd < 0; i++) {
        if (all[i].pid == getppid())
            fd = rendezvous_connect(&all[i]);
    }
    free(all);
    if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0)
        _exit(97);
    return fd;
}

/* Until the node closes it. */
static void stay(int fd)
{
    char byte;
    ssize_t n = recv(fd, &byte, 1, 0);

    if (n > 0 || (n < 0 && errno != ECONNRESET))
        _exit(98);
}

/* On a machine that is busy enough, it is late too: then again. */
static bool greet_in_time(void)
{
    char line[64], byte;

    dup2(connect_port(), PMI_FD);
    snprintf(line, sizeof line, "cmd=initack pmiid=%s\n", getenv("PMI_ID"));
    write_line(line);
    return recv(PMI_FD, &byte, 1, MSG_PEEK) == 1;
}

/* One connection that says who it is, and then some that never do. */
static int be_silent(void)
{
    int port, half, control, start;

    while (!greet_in_time())
        continue;
    for (int i = 0; i < 4; i++)
        read_line("cmd=");
    port = connect_port();
    half = connect_port();
    control = connect_control();
    start = connect_control();
    send(half, "cmd=initack pmi", 15, MSG_NOSIGNAL);
    send(start, "nam", 3, MSG_NOSIGNAL);
    stay(port);
    stay(half);
    stay(control);
    stay(start);
    return be_good();
}

/* Two connections that together say too much, and not who they are. */
static int be_greedy(void)
{
    static char words[FEW_BYTES / 2 + 1];
    int one = connect_port(), other = connect_port();
    struct pollfd p[] = { { one, POLLIN, 0 }, { other, POLLIN, 0 } };

    memset(words, 'a', sizeof words);
    if (send(one, words, sizeof words, MSG_NOSIGNAL) < 0 ||
        send(other, words, sizeof words, MSG_NOSIGNAL) < 0)
        return 99;
    poll(p, 2, -1);
    stay(p[0].revents ? one : other);
    if (recv(p[0].revents ? other : one, words, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN)
        return 99;
    return be_good();
}

static int be(const char *mode)
{
    if (!strcmp(mode, "greedy"))
        return be_greedy();
    if (!strcmp(mode, "silent"))
        return be_silent();
    if (!strcmp(mode, "crowd"))
        return be_crowd();
    if (!strcmp(mode, "good"))
        return be_good();
    if (!strcmp(mode, "pipeliner"))
        return be_pipeliner();
    if (!strcmp(mode, "father"))
        return be_father_of_talker();
    if (!strcmp(mode, "chatter"))
        return be_chatter();
    return 95;
}

/* ---- the node -------------------------------------------------------------------------------- */

static int fill_plan(struct job_map *p, const char *mode, uint32_t n)
{
    if (!plan_of_one_node(p, n))
        return -ENOMEM;
    p->apps[0].argv = arena_array(&p->arena, 3, sizeof(char *));
    if (!p->apps[0].argv)
        return -ENOMEM;
    p->apps[0].argv[0] = self;
    p->apps[0].argv[1] = arena_str(&p->arena, slice_str(mode));
    p->apps[0].argc = 2;
    p->apps[0].path = self;
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

/* As the launcher's worker does it.  100: it did not start. */
static int run_node(const char *mode, uint32_t n)
{
    struct node_config c = { .log = { STDERR_FILENO, LOG_ERROR, "node", NULL },
                             .name = "here",
                             .control_fd = -1,
                             .stdin_to = NODE_STDIN_NONE,
                             .pmi_port = !strcmp(mode, "crowd") || !strcmp(mode, "silent") };
    struct rlimit few = { 64, 4096 };
    struct errmsg err = { "" };
    struct node *node;
    struct job_map plan;
    int code = 100;

    if (!strcmp(mode, "silent") || !strcmp(mode, "greedy"))
        c.log.most = LOG_WARN;
    if (!strcmp(mode, "crowd"))
        setrlimit(RLIMIT_NOFILE, &few);
    signal(SIGPIPE, SIG_IGN);
    child_adopt_orphans();
    if (fill_plan(&plan, mode, n) < 0) {
        job_map_free(&plan);
        return code;
    }
    node = node_new(&c, &err);
    if (node && !strcmp(mode, "greedy"))
        node->quota.rules.bytes = FEW_BYTES;
    if (node && !strcmp(mode, "silent")) {
        node->listener.conns.greetings.greetings.time_ns = SHORT_MS * NS_PER_MS;
        node->control_socket.greetings.greetings.time_ns = SHORT_MS * NS_PER_MS;
    }
    if (node && node_start(node, &plan, &err) == 0)
        code = node_run(node);
    else
        job_map_free(&plan);
    node_free(node);
    return code;
}

struct written {
    pthread_t thread;
    int fd;
    struct buf got;
};

static void *read_all(void *arg)
{
    struct written *o = arg;
    char chunk[3000];
    ssize_t n;

    while ((n = read(o->fd, chunk, sizeof chunk)) > 0)
        buf_put(&o->got, chunk, (size_t)n);
    return NULL;
}

/* Runs a node with both output streams in one pipe (or in the file `out`); returns its exit code,
 * or 1000 plus a signal. */
static int run(const char *mode, uint32_t n, const char *out, struct buf *got)
{
    struct written o = { .got = BUF_NULL(1 << 30) };
    int ends[2], status;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        abort();
    pid = fork();
    if (pid == 0) {
        int to = out ? open(out, O_WRONLY | O_CLOEXEC) : ends[1];
        dup2(open("/dev/null", O_RDWR), 0);
        dup2(to, 1);
        dup2(ends[1], 2);
        _exit(run_node(mode, n));
    }
    close(ends[1]);
    o.fd = ends[0];
    pthread_create(&o.thread, NULL, read_all, &o);
    waitpid(pid, &status, 0);
    pthread_join(o.thread, NULL);
    close(ends[0]);
    if (got)
        *got = o.got;
    else
        buf_free(&o.got);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool nobody_is_left(void)
{
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void test_pipeliner(void)
{
    struct buf got;
    bool good;

    EQ(run("good", 3, NULL, NULL), 0);
    good = run("pipeliner", 2, NULL, &got) == 0;
    OK_F(good, "who sends faster than it reads is slowed down, and loses nothing");
    if (!good)
        printf("# " SLICE_FMT "\n", SLICE_ARG(buf_slice(&got)));
    buf_free(&got);
    OK(nobody_is_left());
}

static void test_talker(void)
{
    OK_F(run("father", 2, NULL, NULL) == 5,
         "later output of a dead process's child is not waited for");
    OK(nobody_is_left());
}

static void test_crowd(void)
{
    struct buf got;
    bool good = run("crowd", 2, NULL, &got) == 0;

    OK_F(good, "idle connections, more than there are descriptors, keep nobody out");
    if (!good)
        printf("# " SLICE_FMT "\n", SLICE_ARG(buf_slice(&got)));
    buf_free(&got);
    OK(nobody_is_left());
}

static void test_silent(void)
{
    struct slice all;
    struct buf got;
    bool good = run("silent", 1, NULL, &got) == 0;

    OK_F(good, "connections that do not identify themselves in time are closed; others are not");
    all = buf_slice(&got);
    OK(all.len && memmem(all.ptr, all.len, "did not say who it is", 21) &&
       memmem(all.ptr, all.len, "no question came", 16));
    if (!good)
        printf("# " SLICE_FMT "\n", SLICE_ARG(all));
    buf_free(&got);
    OK(nobody_is_left());
}

static void test_greedy(void)
{
    struct buf got;
    struct slice all;

    OK_F(run("greedy", 1, NULL, &got) == 0, "connections that say too much and not who they are");
    all = buf_slice(&got);
    OK_F(all.len && memmem(all.ptr, all.len, "have sent more than", 19),
         "are closed, and only as many as have to be");
    buf_free(&got);
    OK(nobody_is_left());
}

static void test_chatter(void)
{
    struct buf got;
    struct slice all;
    unsigned whole = 0, cut = 0;

    EQ(run("chatter", 8, NULL, &got), 0);
    for (all = buf_slice(&got); all.len;) {
        struct slice line = slice_cut(&all, '\n');
        bool same = line.len == 3000;
        for (size_t i = 1; i < line.len && same; i++)
            same = line.ptr[i] == line.ptr[0];
        whole += same;
        cut += !same;
    }
    OK_F(whole == 8 * 60 && cut == 0, "%u lines of both streams are whole, %u are cut", whole, cut);
    buf_free(&got);
}

static void test_full(void)
{
    struct buf got;

    OK_F(run("chatter", 2, "/dev/full", &got) != 0, "output that was lost is no success");
    OK(buf_len(&got) && memmem(buf_slice(&got).ptr, buf_len(&got), "No space left", 13));
    buf_free(&got);
}

/* ---- without memory -------------------------------------------------------------------------- */

/* A child's report about its memory. */
static struct result {
    uint64_t requests;
    int64_t lost;
} * result;

/* 0: it succeeded; 100: it did not start; else the job failed. */
static int run_refused(uint64_t refused, bool on)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_RDWR), code;
        int64_t before = alloc_live();
        dup2(null, 1);
        dup2(null, 2);
        alloc_fail(refused, on);
        code = run_node("good", 2);
        *result = (struct result){ alloc_count(), alloc_live() - before };
        _exit(code);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void test_memory(void)
{
    unsigned fine = 0, failed = 0, unborn = 0;
    uint64_t requests;
    bool good = true;

    result = mmap(NULL, sizeof *result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EQ(run_refused(0, false), 0);
    requests = result->requests;
    OK(requests > 20 && result->lost == 0);
    for (uint64_t i = 1; i <= requests && good; i++) {
        for (int on = 0; on < 2 && good; on++) {
            int code = run_refused(i, on);
            good = code < 1000 && result->lost == 0 && nobody_is_left();
            if (!good)
                printf("# request %llu%s refused: %d, %lld blocks lost\n", (unsigned long long)i,
                       on ? " and later" : "", code, (long long)result->lost);
            fine += code == 0;
            unborn += code == 100;
            failed += code != 0 && code != 100;
        }
    }
    OK_F(good, "%llu requests for memory, each refused: %u jobs run, %u fail, %u do not begin",
         (unsigned long long)requests, fine, failed, unborn);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return be(argv[1]);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0 || child_adopt_orphans() < 0)
        return 1;
    test_pipeliner();
    test_talker();
    test_crowd();
    test_silent();
    test_greedy();
    test_chatter();
    test_full();
    test_memory();
    return tap_done();
}
