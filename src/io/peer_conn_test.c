/* peer_conn_test.c - the connections of a server: who is accepted, how long and how much one may
 * say before it is known who it is, who makes room for whom, and when a connection is not read. */
#include "io/peer_conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/effect.h"
#include "core/input.h"
#include "io/loop_epoll.h"
#include "store/memory.h"
#include "tests/tap.h"

enum { DESCRIPTORS = 128, PMI_ID = 77 };

static struct loop loop;
static struct server server;
static struct quota quota;
static struct peer_conns conns;
static struct job *job;
static struct seg_region region;
static unsigned naccepted, nclosed, nhung_up;
static bool everybody; /* is expected */

/* ---- the host -------------------------------------------------------------------------------- */

static bool expects(void *arg, uid_t uid)
{
    (void)arg;
    (void)uid;
    return everybody;
}

static void accepted(void *arg, struct peer_conn *c)
{
    (void)arg;
    (void)c;
    naccepted++;
}

static void hung_up(void *arg, struct peer_conn *c, bool refused)
{
    (void)arg;
    (void)c;
    nhung_up += !refused;
}

static void closed(void *arg, struct peer_conn *c)
{
    (void)arg;
    (void)c;
    nclosed++;
}

static void settle(void *arg)
{
    struct effect e;
    struct peer *p;

    (void)arg;
    while (server_effect(&server, &e))
        effect_drop(&e);
    while ((p = server_dirty(&server)))
        peer_conn_flush(p->host);
}

static const struct peer_conn_host host = {
    .expects = expects, .accepted = accepted, .hung_up = hung_up, .closed = closed, .settle = settle
};

static bool identify_port(void *arg, const struct peer *newcomer, int64_t id, struct job **job_p,
                          uint32_t *rank_p)
{
    (void)newcomer;
    (void)arg;
    *job_p = job;
    *rank_p = 0;
    return id == PMI_ID;
}

static void open_all(const struct quota_rules *rules, uid_t uid)
{
    static const struct log quiet = { -1, LOG_ERROR, "", NULL };
    const struct peer_conns_config config = { .server = &server,
                                              .loop = &loop,
                                              .quota = &quota,
                                              .log = &quiet,
                                              .port_name = "the port",
                                              .uid = uid,
                                              .host = &host };
    struct job_map plan;

    if (loop_epoll_init(&loop) < 0 || seg_memory_open(1 << 20, &region) < 0)
        abort();
    quota_init(&quota, rules, 1);
    server_init(&server, 1, &quiet);
    server.identify = identify_port;
    job_map_init(&plan);
    plan.apps = arena_array(&plan.arena, 1, sizeof *plan.apps);
    plan.nodes = arena_array(&plan.arena, 1, sizeof *plan.nodes);
    plan.procs = arena_array(&plan.arena, 1, sizeof *plan.procs);
    plan.napps = plan.nnodes = plan.nprocs = 1;
    plan.apps[0].nprocs = 1;
    plan.nodes[0] = (struct job_map_node){ .name = "here", .nprocs = 1, .slots = 1 };
    job = server_job_order(&server, &(struct job_order){ .nspace = "job",
                                                         .plan = &plan,
                                                         .region = &region,
                                                         .parent = JOB_NO_RANK,
                                                         .keep_going = false,
                                                         .here = JOB_ALL_HERE });
    if (!job)
        abort();
    job->procs[0].pid = getpid();
    server_deliver(&server, INPUT(proc_state, .job = job->id, .rank = 0,
                                  .event = PROC_EVENT_STARTED, .pid = job->procs[0].pid));
    naccepted = nclosed = nhung_up = 0;
    everybody = false;
    peer_conns_init(&conns, &config);
    OK(peer_conns_listen(&conns) == 0 && conns.port);
}

static void close_everything(void)
{
    peer_conns_close(&conns);
    peer_conns_close(&conns);
    server_free(&server);
    seg_memory_close(&region);
    loop_free(&loop);
}

static void turn(void)
{
    struct loop_epoll_ready ready;

    loop_epoll_wait(&loop, true, &ready);
    loop_epoll_handle(&loop, &ready);
}

/* ---- callers --------------------------------------------------------------------------------- */

static int call(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons(conns.port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
        abort();
    return fd;
}

static int call_accepted(void)
{
    unsigned before = naccepted;
    int fd = call();

    while (naccepted == before)
        turn();
    return fd;
}

static bool is_open(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

/* The server closes it: waits for that. */
static bool gets_closed(int fd)
{
    while (is_open(fd))
        turn();
    close(fd);
    return true;
}

static bool contains(int fd, const char *words)
{
    return send(fd, words, strlen(words), MSG_NOSIGNAL) == (ssize_t)strlen(words);
}

static void test_greeting(void)
{
    int silent, known;

    open_all(&quota_declines, getuid());
    conns.greetings.greetings.time_ns = NS_PER_MS;
    silent = call_accepted();
    OK_F(gets_closed(silent) && nclosed == 1, "who says nothing is closed in time");
    conns.greetings.greetings.time_ns = 3600 * NS_PER_S;
    known = call_accepted();
    OK(contains(known, "cmd=initack pmiid=77\n"));
    while (is_open(known))
        turn();
    OK_F(LIST_OF(list_first(&conns.accepted), struct peer_conn, link)->peer->job == job &&
             list_empty(&conns.greetings.greetings.all),
         "who has said who it is is not awaited");
    close(known);
    while (nclosed < 2)
        turn();
    EQ(nhung_up, 1);
    close_everything();
}

static void test_bytes(void)
{
    static const struct quota_rules few = { .calls = 100, .bytes = 30 };
    int one, two;

    open_all(&few, getuid());
    one = call_accepted();
    two = call_accepted();
    OK(contains(one, "cmd=initack pmiid=")); /* not the end of it */
    while (!quota.accounts[0].bytes)
        turn();
    OK(contains(two, "cmd=initack pmiid="));
    OK_F(gets_closed(two) && is_open(one), "connections of one user have one share of bytes");
    OK(contains(one, "77\n"));
    while (is_open(one))
        turn();
    EQ(quota.accounts[0].bytes, 0);
    close(one);
    close_everything();
}

/* As if we were another user than the callers. */
static void test_others(void)
{
    static const struct quota_rules two_calls = { .calls = 2, .calls_ms = 1000000, .bytes = 1000 };
    int one, two;

    open_all(&two_calls, getuid() + 1);
    OK_F(gets_closed(call()) && naccepted == 0, "who is not expected is refused");
    everybody = true;
    one = call_accepted();
    two = call_accepted();
    OK_F(gets_closed(call()) && naccepted == 2, "who calls too often is closed unread");
    OK(contains(one, "cmd=initack pmiid=77\n"));
    while (is_open(one))
        turn();
    close(call_accepted());
    OK_F(naccepted == 3, "a call that ends in a job does not count");
    close(one);
    close(two);
    close_everything();
}

static void test_room(void)
{
    int first, second, third, taken[DESCRIPTORS], n = 0;

    open_all(&quota_declines, getuid());
    first = call_accepted();
    second = call_accepted();
    third = call(); /* waits in the kernel's queue */
    while (n < DESCRIPTORS && (taken[n] = dup(0)) >= 0)
        n++;
    OK(errno == EMFILE);
    while (naccepted < 3)
        turn();
    while (n)
        close(taken[--n]);
    OK_F(nclosed == 1 && gets_closed(first) && is_open(second) && is_open(third),
         "the oldest that has not said who it is makes room");
    close(second);
    close(third);
    close_everything();
}

/* ---- reading and writing --------------------------------------------------------------------- */

static void test_interest(void)
{
    struct peer_conn *c;
    size_t queued;
    int ends[2];

    open_all(&quota_declines, getuid());
    OK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0 &&
       peer_cred_mark(ends[0]) == 0);
    c = peer_conn_open(&conns, ends[0], job, 0, true);
    OK(c && c->proven && c->marked && c->watch.what == LOOP_READ);
    peer_conn_hold(c, LIMIT_CLIENT_UPCALLS);
    EQ(c->watch.what, 0);
    peer_conn_release(c, 1);
    EQ(c->watch.what, LOOP_READ);
    peer_conn_release(c, LIMIT_CLIENT_UPCALLS - 1);
    do {
        buf_put(&c->peer->out, "0123456789abcdef", 16);
        server_spoken(&server, c->peer);
        settle(NULL);
        queued = buf_len(&c->peer->out);
    } while (queued < LIMIT_CLIENT_BACKLOG);
    EQ(c->watch.what, LOOP_WRITE);
    while (buf_len(&c->peer->out)) {
        char chunk[4096];
        while (recv(ends[1], chunk, sizeof chunk, 0) > 0)
            continue;
        turn();
    }
    OK_F(c->watch.what == LOOP_READ, "who does not read is not read from until it does");
    OK(contains(ends[1], "cmd=init pmi_version=1 pmi_subversion=1\n"));
    close(ends[1]);
    peer_conn_drain(c);
    settle(NULL);
    OK_F(nclosed == 1 && nhung_up == 1 && list_empty(&conns.given), "the end is read at once");
    close_everything();
}

/* Segments whose receipt the other end has not told. */
static unsigned unacknowledged(int fd)
{
    struct tcp_info info = { .tcpi_unacked = 0 };
    socklen_t n = sizeof info;

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 ? info.tcpi_unacked : UINT32_MAX;
}

/* The kernel acknowledges each of the first segments at once; after those it waits for a reply. */
static void test_acknowledgement(void)
{
    enum { QUESTIONS = 40 };
    char answer[256];
    bool good = true;
    int fd;

    open_all(&quota_declines, getuid());
    fd = call_accepted();
    OK(contains(fd, "cmd=initack pmiid=77\n"));
    while (is_open(fd))
        turn();
    for (int i = 0; i < QUESTIONS && good; i++) {
        while (recv(fd, answer, sizeof answer, MSG_DONTWAIT) > 0)
            continue;
        good = contains(fd, "cmd=get_maxes\n");
        while (is_open(fd))
            turn();
    }
    OK(good && contains(fd, "cmd="));
    turn();
    OK_F(unacknowledged(fd) == 0, "what has no answer yet is acknowledged at once");
    close(fd);
    close_everything();
}

int main(void)
{
    const struct rlimit few = { DESCRIPTORS, DESCRIPTORS };

    peer_conns_close(&conns); /* of zeroed memory */
    if (setrlimit(RLIMIT_NOFILE, &few) < 0)
        return 1;
    test_greeting();
    test_bytes();
    test_others();
    test_room();
    test_interest();
    test_acknowledgement();
    return tap_done();
}
