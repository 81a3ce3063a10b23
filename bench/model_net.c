/* model_net.c - a network with distance: carries IP packets between hosts that are network name
 * spaces, each after a latency and at a rate.
 *
 *   bench-model-net net LATENCY_NS PS_PER_BYTE PID...  host I is the name space of process I and
 *                                  gets the interface eth0, 10.77.0.I (the first one is host 1);
 *                                  prints "up", and ends with its input
 *   bench-model-net enter PID COMMAND...   the command, on the host of that process
 *
 * Each host has one tun device, and all of these are open here.  A packet leaves its host when
 * those before it have left, byte by byte; its first byte arrives after the latency, and it is
 * given to the other host when the packets that came there before, and it, have been received at
 * the same rate.  No packet is lost.  So the hosts see a switch with full bandwidth between all of
 * them, and the code under test sees a kernel's own TCP.
 *
 * netem would do the same, but not every kernel has it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MTU = 1500, HOSTS_MAX = 250, EVENTS = 64, QUEUE = 20000 };

struct host {
    int tun;
    uint64_t out_free, in_free; /* when the last byte of the packets so far has left, has come */
};

struct packet {
    uint32_t to, len;
    char bytes[];
};

/* What happens to a packet: its first byte arrives, or it is given to the host. */
struct step {
    uint64_t at, number;
    struct packet *packet;
    bool given;
};

struct network {
    uint64_t latency_ns, byte_ps;
    struct host hosts[HOSTS_MAX];
    uint32_t count;
    struct step *heap;
    size_t nsteps, room;
    uint64_t number;
    int timer;
};

static void fail(const char *what)
{
    fprintf(stderr, "model_net: %s: %s\n", what, strerror(errno));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static int space(const char *pid, const char *kind)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%s/ns/%s", pid, kind);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(path);
    return fd;
}

static void enter(const char *pid, const char *kind, int type)
{
    int fd = space(pid, kind);

    if (setns(fd, type) < 0)
        fail("setns");
    close(fd);
}

static void set_address(int s, struct ifreq *r, unsigned long what, uint32_t address)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };

    memcpy(&r->ifr_addr, &a, sizeof a);
    if (ioctl(s, what, r) < 0)
        fail("the address of eth0");
}

static void bring_up(struct ifreq *r, uint32_t number)
{
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (s < 0)
        fail("socket");
    set_address(s, r, SIOCSIFADDR, UINT32_C(10) << 24 | 77 << 16 | number);
    set_address(s, r, SIOCSIFNETMASK, UINT32_C(0xffff0000));
    r->ifr_mtu = MTU;
    if (ioctl(s, SIOCSIFMTU, r) < 0)
        fail("the MTU of eth0");
    r->ifr_qlen = QUEUE;
    if (ioctl(s, SIOCSIFTXQLEN, r) < 0)
        fail("the queue of eth0");
    r->ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(s, SIOCSIFFLAGS, r) < 0)
        fail("eth0 does not come up");
    close(s);
}

/* The device of a host, which is number I. */
static int open_tun(const char *pid, uint32_t number)
{
    struct ifreq r = { .ifr_name = "eth0", .ifr_flags = IFF_TUN | IFF_NO_PI };
    int fd;

    enter(pid, "net", CLONE_NEWNET);
    fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &r) < 0)
        fail("/dev/net/tun");
    bring_up(&r, number);
    return fd;
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool earlier(const struct step *a, const struct step *b)
{
    return a->at != b->at ? a->at < b->at : a->number < b->number;
}

static void push(struct network *n, struct step e)
{
    size_t i = n->nsteps++;

    if (i == n->room) {
        n->room = n->room ? 2 * n->room : 1024;
        n->heap = realloc(n->heap, n->room * sizeof *n->heap);
        if (!n->heap)
            fail("memory");
    }
    e.number = ++n->number;
    for (; i && earlier(&e, &n->heap[(i - 1) / 2]); i = (i - 1) / 2)
        n->heap[i] = n->heap[(i - 1) / 2];
    n->heap[i] = e;
}

static struct step pop(struct network *n)
{
    struct step first = n->heap[0], last = n->heap[--n->nsteps];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < n->nsteps) {
        child += child + 1 < n->nsteps && earlier(&n->heap[child + 1], &n->heap[child]);
        if (!earlier(&n->heap[child], &last))
            break;
        n->heap[i] = n->heap[child];
        i = child;
    }
    n->heap[i] = last;
    return first;
}

static void set_timer(struct network *n)
{
    struct itimerspec t = { 0 };

    if (n->nsteps) {
        t.it_value.tv_sec = (time_t)(n->heap[0].at / 1000000000);
        t.it_value.tv_nsec = (long)(n->heap[0].at % 1000000000);
    }
    timerfd_settime(n->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

/* ---- packets --------------------------------------------------------------------------------- */

static uint64_t bytes_ns(const struct network *n, const struct packet *p)
{
    return p->len * n->byte_ps / 1000;
}

/* The index of the host that a packet is for; the count: of none. */
static uint32_t destination(const struct network *n, const char *bytes, size_t len)
{
    const unsigned char *b = (const unsigned char *)bytes;
    uint32_t number;

    if (len < 20 || b[0] >> 4 != 4 || b[16] != 10 || b[17] != 77)
        return n->count;
    number = (uint32_t)b[18] << 8 | b[19];
    return number >= 1 && number <= n->count ? number - 1 : n->count;
}

static void leave(struct network *n, struct host *from, const char *bytes, size_t len)
{
    uint32_t to = destination(n, bytes, len);
    struct packet *p = to < n->count ? malloc(sizeof *p + len) : NULL;
    uint64_t now = now_ns(), start = from->out_free > now ? from->out_free : now;

    if (!p)
        return;
    *p = (struct packet){ .to = to, .len = (uint32_t)len };
    memcpy(p->bytes, bytes, len);
    from->out_free = start + bytes_ns(n, p);
    push(n, (struct step){ .at = start + n->latency_ns, .packet = p });
}

static void arrive(struct network *n, struct step *e)
{
    struct host *to = &n->hosts[e->packet->to];

    to->in_free = (to->in_free > e->at ? to->in_free : e->at) + bytes_ns(n, e->packet);
    e->at = to->in_free;
    e->given = true;
    push(n, *e);
}

static void give(struct network *n, struct step *e)
{
    ssize_t done = write(n->hosts[e->packet->to].tun, e->packet->bytes, e->packet->len);

    (void)done; /* a host that has gone */
    free(e->packet);
}

static void go_on(struct network *n)
{
    while (n->nsteps && n->heap[0].at <= now_ns()) {
        struct step e = pop(n);
        if (e.given)
            give(n, &e);
        else
            arrive(n, &e);
    }
}

static void collect(struct network *n, struct host *from)
{
    char bytes[MTU + 64];
    ssize_t len;

    while ((len = read(from->tun, bytes, sizeof bytes)) > 0)
        leave(n, from, bytes, (size_t)len);
}

/* ---- the network ----------------------------------------------------------------------------- */

static void watch(int epoll, int fd, struct host *of)
{
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = of };

    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0)
        fail("epoll");
}

static void run(struct network *n)
{
    static struct host input, timer; /* marks */
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event events[EVENTS];
    uint64_t fired;

    watch(epoll, 0, &input);
    watch(epoll, n->timer, &timer);
    for (uint32_t i = 0; i < n->count; i++)
        watch(epoll, n->hosts[i].tun, &n->hosts[i]);
    for (;;) {
        int k = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < k; i++) {
            if (events[i].data.ptr == &input)
                return;
            if (events[i].data.ptr != &timer)
                collect(n, events[i].data.ptr);
            else if (read(n->timer, &fired, sizeof fired) < 0)
                continue;
        }
        go_on(n);
        set_timer(n);
    }
}

static int network(char **words, int nwords)
{
    static struct network n;
    struct sched_param first = { .sched_priority = 20 };

    n.latency_ns = strtoull(words[0], NULL, 10);
    n.byte_ps = strtoull(words[1], NULL, 10);
    n.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    for (int i = 2; i < nwords && n.count < HOSTS_MAX; i++) {
        n.hosts[n.count].tun = open_tun(words[i], n.count + 1);
        n.count++;
    }
    sched_setscheduler(0, SCHED_FIFO,
                       &first); /* packets are on time though the processors are busy */
    puts("up");
    fflush(stdout);
    run(&n);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "net") == 0)
        return network(argv + 2, argc - 2);
    if (argc < 4 || strcmp(argv[1], "enter") != 0) {
        fprintf(
            stderr,
            "usage: bench-model-net net LATENCY_NS PS_PER_BYTE PID... | enter PID COMMAND...\n");
        return 2;
    }
    enter(argv[2], "uts", CLONE_NEWUTS);
    enter(argv[2], "net", CLONE_NEWNET);
    execvp(argv[3], argv + 3);
    fail(argv[3]);
}
