/* pmi1_floor.c - what a get of PMI-1 costs with a server that does nothing but answer.
 *
 *   bench-pmi1-floor WAY N GETS
 *
 * N processes with a socket pair each send GETS requests of PMI-1's length, one at a time, and wait
 * for each answer, as MPICH does.  The server answers by one of these ways, which differ in their
 * system calls:
 *
 *   epoll   each request as it is found: one recv and one send
 *   turn    all requests of a turn are read before the first is answered
 *   uring   io_uring: one recv for each connection for all time, and all sends of a turn in one
 *           call
 *
 * Prints: way=... n=... us_per_get=... server_cpu_us=... client_cpu_us=...
 */
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS_MAX = 1024, TURN = 256, RING = 2048, BUFFER = 256, GROUP = 1 };

static const char request[] = "cmd=get kvsname=kvs_4711_0_2f41f718_node key=card-00000042\n";
static char reply[160];

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double cpu_us(int who)
{
    struct rusage r;

    getrusage(who, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* ---- the clients ----------------------------------------------------------------------------- */

static void be_client(int fd, int go, long gets)
{
    char buf[BUFFER];

    if (read(go, buf, 1) != 0) /* the other end is closed when all are there */
        exit(1);
    for (long i = 0; i < gets; i++) {
        if (write(fd, request, sizeof request - 1) != (ssize_t)sizeof request - 1 ||
            read(fd, buf, sizeof buf) != (ssize_t)sizeof reply)
            exit(1);
    }
    exit(0);
}

static void start_clients(int n, long gets, int *fds)
{
    int pair[2], go[2];

    if (pipe(go) != 0)
        fail("pipe");
    for (int i = 0; i < n; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            fail("socketpair");
        switch (fork()) {
        case -1: fail("fork"); break;
        case 0:
            close(go[1]);
            for (int other = 0; other < i; other++)
                close(fds[other]);
            close(pair[0]);
            be_client(pair[1], go[0], gets);
            break;
        default: close(pair[1]); fds[i] = pair[0];
        }
    }
    close(go[0]);
    close(go[1]);
}

/* ---- epoll ----------------------------------------------------------------------------------- */

static void answer(int fd)
{
    if (send(fd, reply, sizeof reply, MSG_NOSIGNAL) != (ssize_t)sizeof reply)
        fail("send");
}

/* Whether there was a request; none: the client has ended. */
static bool take(int fd)
{
    char buf[BUFFER];

    return recv(fd, buf, sizeof buf, 0) > 0;
}

static void serve_epoll(const int *fds, int n, bool whole_turns)
{
    int ep = epoll_create1(0), left = n, asked[TURN];
    struct epoll_event ready[TURN];

    for (int i = 0; i < n; i++) {
        struct epoll_event e = { .events = EPOLLIN, .data.fd = fds[i] };
        if (epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &e) != 0)
            fail("epoll_ctl");
    }
    while (left > 0) {
        int got = epoll_wait(ep, ready, TURN, -1), nasked = 0;
        for (int i = 0; i < got; i++) {
            int fd = ready[i].data.fd;
            if (!take(fd)) {
                close(fd);
                left--;
            } else if (whole_turns) {
                asked[nasked++] = fd;
            } else {
                answer(fd);
            }
        }
        for (int i = 0; i < nasked; i++)
            answer(asked[i]);
    }
}

/* ---- io_uring -------------------------------------------------------------------------------- */

struct uring {
    int fd;
    unsigned *sq_tail, *sq_array, *cq_head, *cq_tail, sq_mask, cq_mask, unsent;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    struct io_uring_buf_ring *buffers;
    char *memory;
    uint16_t buffers_tail;
};

static void *map(int fd, size_t n, off_t at)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, at);

    if (p == MAP_FAILED)
        fail("mmap");
    return p;
}

static void give_buffer(struct uring *u, uint16_t id)
{
    struct io_uring_buf *b = &u->buffers->bufs[u->buffers_tail & (RING - 1)];

    b->addr = (uint64_t)(uintptr_t)(u->memory + (size_t)id * BUFFER);
    b->len = BUFFER;
    b->bid = id;
    __atomic_store_n(&u->buffers->tail, ++u->buffers_tail, __ATOMIC_RELEASE);
}

static void make_buffers(struct uring *u)
{
    struct io_uring_buf_reg reg = { .ring_entries = RING, .bgid = GROUP };

    u->buffers = mmap(NULL, RING * sizeof(struct io_uring_buf), PROT_READ | PROT_WRITE,
                      MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    u->memory = malloc((size_t)RING * BUFFER);
    reg.ring_addr = (uint64_t)(uintptr_t)u->buffers;
    if (u->buffers == MAP_FAILED || !u->memory ||
        syscall(SYS_io_uring_register, u->fd, IORING_REGISTER_PBUF_RING, &reg, 1) != 0)
        fail("io_uring_register");
    for (uint16_t i = 0; i < RING; i++)
        give_buffer(u, i);
}

static void make_uring(struct uring *u)
{
    struct io_uring_params p = { .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                                          IORING_SETUP_CQSIZE,
                                 .cq_entries = 2 * RING };
    char *sq, *cq;

    u->fd = (int)syscall(SYS_io_uring_setup, RING, &p);
    if (u->fd < 0)
        fail("io_uring_setup");
    sq = map(u->fd, p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    cq = map(u->fd, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    u->sqes = map(u->fd, p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    u->sq_tail = (unsigned *)(void *)(sq + p.sq_off.tail);
    u->sq_array = (unsigned *)(void *)(sq + p.sq_off.array);
    u->sq_mask = p.sq_entries - 1;
    u->cq_head = (unsigned *)(void *)(cq + p.cq_off.head);
    u->cq_tail = (unsigned *)(void *)(cq + p.cq_off.tail);
    u->cq_mask = p.cq_entries - 1;
    u->cqes = (struct io_uring_cqe *)(void *)(cq + p.cq_off.cqes);
    make_buffers(u);
}

static struct io_uring_sqe *next(struct uring *u, uint8_t opcode, int fd)
{
    unsigned tail = *u->sq_tail, at = tail & u->sq_mask;
    struct io_uring_sqe *e = &u->sqes[at];

    memset(e, 0, sizeof *e);
    e->opcode = opcode;
    e->fd = fd;
    u->sq_array[at] = at;
    __atomic_store_n(u->sq_tail, tail + 1, __ATOMIC_RELEASE);
    u->unsent++;
    return e;
}

static void receive(struct uring *u, int fd)
{
    struct io_uring_sqe *e = next(u, IORING_OP_RECV, fd);

    e->ioprio = IORING_RECV_MULTISHOT;
    e->flags = IOSQE_BUFFER_SELECT;
    e->buf_group = GROUP;
    e->user_data = (uint64_t)fd + 1;
}

static void post_answer(struct uring *u, int fd)
{
    struct io_uring_sqe *e = next(u, IORING_OP_SEND, fd);

    e->flags = IOSQE_CQE_SKIP_SUCCESS;
    e->addr = (uint64_t)(uintptr_t)reply;
    e->len = sizeof reply;
    e->msg_flags = MSG_NOSIGNAL;
}

/* Whether the client goes on. */
static bool handle(struct uring *u, const struct io_uring_cqe *c)
{
    int fd = (int)c->user_data - 1;

    if (c->flags & IORING_CQE_F_BUFFER)
        give_buffer(u, (uint16_t)(c->flags >> IORING_CQE_BUFFER_SHIFT));
    if (c->res <= 0 || fd < 0)
        return false;
    if (!(c->flags & IORING_CQE_F_MORE))
        receive(u, fd);
    post_answer(u, fd);
    return true;
}

static void serve_uring(const int *fds, int n)
{
    struct uring u = { .fd = -1 };

    make_uring(&u);
    for (int i = 0; i < n; i++)
        receive(&u, fds[i]);
    while (n > 0) {
        unsigned head, tail;
        if (syscall(SYS_io_uring_enter, u.fd, u.unsent, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
            fail("io_uring_enter");
        u.unsent = 0;
        head = *u.cq_head;
        tail = __atomic_load_n(u.cq_tail, __ATOMIC_ACQUIRE);
        for (; head != tail; head++)
            n -= !handle(&u, &u.cqes[head & u.cq_mask]);
        __atomic_store_n(u.cq_head, head, __ATOMIC_RELEASE);
    }
}

/* ---- main ------------------------------------------------------------------------------------ */

static void serve(const char *way, const int *fds, int n)
{
    if (!strcmp(way, "uring"))
        serve_uring(fds, n);
    else if (!strcmp(way, "epoll") || !strcmp(way, "turn"))
        serve_epoll(fds, n, !strcmp(way, "turn"));
    else
        exit(2);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "epoll";
    int n = argc > 2 ? atoi(argv[2]) : 64, fds[CLIENTS_MAX], status, bad = 0;
    long gets = argc > 3 ? atol(argv[3]) : 1000;
    double from, all, own;

    if (n < 1 || n > CLIENTS_MAX)
        return 2;
    memset(reply, 'v', sizeof reply);
    start_clients(n, gets, fds);
    from = now_us();
    own = cpu_us(RUSAGE_SELF);
    serve(way, fds, n);
    own = cpu_us(RUSAGE_SELF) - own;
    all = (double)n * (double)gets;
    from = now_us() - from;
    while (wait(&status) > 0)
        bad += status != 0;
    printf("way=%s n=%d us_per_get=%.2f server_cpu_us=%.2f client_cpu_us=%.2f%s\n", way, n,
           from / all, own / all, cpu_us(RUSAGE_CHILDREN) / all, bad ? " WRONG" : "");
    return bad != 0;
}
