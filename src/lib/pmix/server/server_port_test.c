/* server_port_test.c - a server that had no descriptor for a new connection for a moment accepts
 * it afterwards, though none of its connections is closed in between.  It closes who does not say
 * in time who they are. */
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "lib/pmix/server/server.h"
#include "lib/pmix/server/server_turn.h"
#include "pmix_server.h"
#include "tests/tap.h"

enum { MOST = 256 };

/* The address of this process's listening socket. */
static bool find_port(struct sockaddr_in *at)
{
    for (int fd = 3; fd < MOST; fd++) {
        socklen_t len = sizeof(int), size = sizeof *at;
        int listens = 0;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens &&
            getsockname(fd, (struct sockaddr *)at, &size) == 0 && at->sin_family == AF_INET)
            return true;
    }
    return false;
}

static int new_socket(void)
{
    struct timeval net = { .tv_sec = 30 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &net, sizeof net);
    return fd;
}

/* True if the server reads the invalid greeting, and closes. */
static bool is_received(int fd)
{
    static const char words[] = "GET / HTTP/1.0\r\n\r\n";
    char byte;
    ssize_t n = send(fd, words, sizeof words - 1, MSG_NOSIGNAL);

    do
        n = recv(fd, &byte, 1, 0);
    while (n > 0);
    return n == 0 || errno == ECONNRESET;
}

static bool call(int fd, const struct sockaddr_in *at)
{
    return connect(fd, (const struct sockaddr *)at, sizeof *at) == 0;
}

/* ---- the time to say who one is -------------------------------------------------------------- */

/* A tool of this user; its length comes after the first eight bytes. */
static const char hello[] = "\xff\xff\xff\xff\xff\xff\xff\xff"
                            "\x25\0\0\0\0\0\0\0"
                            "native\0"
                            "\0\0\0\0"
                            "\x03"
                            "\0\0\0\0\0\0\0\0"
                            "5.0.1\0"
                            "v41\0"
                            "\x01"
                            "hash\0"
                            "\0";
enum { HELLO = sizeof hello - 1, HELLO_HEAD = 16 };

static struct {
    pmix_tool_connection_cbfunc_t fn;
    void *data;
} waiting;

/* The host takes its time. */
static void tool_came(pmix_info_t *infos, size_t n, pmix_tool_connection_cbfunc_t fn, void *data)
{
    (void)infos;
    (void)n;
    waiting.fn = fn;
    waiting.data = data;
}

static unsigned open_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;

    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

static unsigned count(const struct pserver *s)
{
    unsigned n = 0;

    LIST_EACH(l, &s->conns.accepted)
    n++;
    return n;
}

static void turn(struct pserver *s)
{
    struct pollfd p = { pserver_turn_fd(s), POLLIN, 0 };

    poll(&p, 1, -1);
    pserver_turn(s, false);
}

/* As if it were so much later. */
static void later(struct pserver *s, uint64_t ms)
{
    struct greeting_timer *t = &s->conns.greetings;

    pserver_lock(s);
    LIST_EACH(l, &t->greetings.all)
    LIST_OF(l, struct greeting, link)->until_ns -= ms * NS_PER_MS;
    timer_set(&t->timer, 0);
    pserver_unlock(s);
    turn(s);
}

static bool is_closed(int fd)
{
    char byte;

    return recv(fd, &byte, 1, 0) == 0 || errno == ECONNRESET;
}

static bool is_open(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* Of a registered user who is not the host's. */
static void test_calls(struct pserver *s, const struct sockaddr_in *at)
{
    const struct quota_rules two = { .calls = 2, .calls_ms = 1000000, .bytes = 1000 };
    int fds[3];

    s->conns.config.uid++;
    quota_init(&s->quota, &two, 1);
    for (int i = 0; i < 3; i++) {
        fds[i] = new_socket();
        OK(call(fds[i], at));
    }
    while (is_open(fds[2]))
        turn(s);
    OK_F(is_closed(fds[2]) && is_open(fds[0]) && is_open(fds[1]) && count(s) == 2,
         "who calls too often is closed unread");
    for (int i = 0; i < 3; i++)
        close(fds[i]);
}

static void test_greeting(void)
{
    const struct pserver_options o = {
        .progress = PSERVER_PROGRAM, .uid = ID_UNSET, .gid = ID_UNSET, .serves_tools = true
    };
    pmix_server_module_t module = { .tool_connected = tool_came };
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int silent = new_socket(), half = new_socket(), whole = new_socket(), late;
    struct errmsg err;
    struct pserver *s;
    unsigned before;

    OK(pserver_new(&module, sizeof module / sizeof(void (*)(void)), &o, &s, &err) == 0 &&
       pserver_settle_progress(s) == 0);
    at.sin_port = htons(s->conns.port);
    OK(call(silent, &at));
    while (count(s) < 1)
        turn(s);
    before = open_fds() - 1; /* the job of the host itself is made by now */
    OK(call(half, &at) && call(whole, &at));
    OK(send(half, hello, HELLO - 1, 0) == HELLO - 1 && send(whole, hello, HELLO, 0) == HELLO);
    while (!waiting.fn || count(s) < 3)
        turn(s);
    later(s, LIMIT_GREETING_MS / 2);
    EQ(count(s), 3);
    later(s, LIMIT_GREETING_MS + 1);
    OK_F(count(s) == 1 && is_closed(silent) && is_closed(half),
         "who has not said all of who it is has no more time");
    OK_F(is_open(whole), "who waits for the host has");
    EQ(open_fds(), before + 1);
    waiting.fn(PMIX_ERR_NOT_SUPPORTED, NULL, waiting.data);
    while (count(s))
        turn(s);
    OK(is_closed(whole));
    EQ(open_fds(), before);
    s->quota.rules.bytes = HELLO - 2;
    late = new_socket();
    OK(call(late, &at) && send(late, hello, HELLO - 1, 0) == HELLO - 1);
    while (is_open(late))
        turn(s);
    OK_F(is_closed(late), "who says too much and not who it is has no more time either");
    close(late);
    close(silent);
    close(half);
    close(whole);
    test_calls(s, &at);
    pserver_free(s);
}

/* Another process may take the port that was free a moment ago. */
static void test_chosen(void)
{
    static pmix_server_module_t module;
    pmix_status_t rc = PMIX_ERROR;
    struct sockaddr_in free_one, at = { .sin_port = 0 };
    pmix_info_t info;
    int port = 70000;

    PMIX_INFO_LOAD(&info, PMIX_TCP_IPV4_PORT, &port, PMIX_INT);
    EQ(PMIx_server_init(&module, &info, 1), PMIX_ERR_BAD_PARAM);
    for (int i = 0; i < 10 && rc != PMIX_SUCCESS; i++) {
        OK(PMIx_server_init(&module, NULL, 0) == PMIX_SUCCESS && find_port(&free_one));
        OK(PMIx_server_finalize() == PMIX_SUCCESS);
        port = ntohs(free_one.sin_port);
        PMIX_INFO_LOAD(&info, PMIX_TCP_IPV4_PORT, &port, PMIX_INT);
        rc = PMIx_server_init(&module, &info, 1);
    }
    OK_F(rc == PMIX_SUCCESS && find_port(&at) && at.sin_port == free_one.sin_port,
         "a server listens on the port that is chosen");
    OK(PMIx_server_finalize() == PMIX_SUCCESS);
}

int main(void)
{
    const struct rlimit few = { MOST, MOST };
    static pmix_server_module_t module;
    struct sockaddr_in at = { .sin_family = AF_INET };
    int taken[MOST], ntaken = 0, fd, early, late;

    if (setrlimit(RLIMIT_NOFILE, &few) < 0 || unsetenv("PMIX_NAMESPACE") < 0)
        return 1;
    test_greeting();
    OK(PMIx_server_init(&module, NULL, 0) == PMIX_SUCCESS && find_port(&at));
    fd = new_socket();
    OK_F(call(fd, &at) && is_received(fd), "a caller is heard");
    close(fd);

    early = new_socket();
    late = new_socket();
    while (ntaken < MOST && (fd = dup(0)) >= 0)
        taken[ntaken++] = fd;
    OK(errno == EMFILE && call(early, &at));
    poll(NULL, 0,
         100); /* so that the server notices the lack of descriptors; if not, this proves less */
    while (ntaken > 0)
        close(taken[--ntaken]);
    OK_F(is_received(early), "who came without a descriptor left is heard once there is one");
    OK_F(call(late, &at) && is_received(late), "and so is the next one");
    close(early);
    close(late);
    OK(PMIx_server_finalize() == PMIX_SUCCESS);
    test_chosen();
    return tap_done();
}
