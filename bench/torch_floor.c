/* torch_floor.c - the least that a store of PyTorch's processes can cost: for bench/torch.
 *
 * One thread, which reads each query of torch_client.c with one system call and answers it with
 * one.  It knows the keys of that program and no others, finds their values by an index, checks
 * nothing, and asks nobody who a client is.  What it takes is the price of the clients and of the
 * kernel: no server that is spoken to by TCP can be faster for the same queries.  It prints its
 * port, and ends with its standard input.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SET = 0, GET = 2, ADD = 3, WAIT = 5, KEYS = 4096, LAST = KEYS - 1, ROOM = 1024, LENGTH = 8 };

struct waiter {
    int fd;
    struct waiter *next;
};

static struct value {
    size_t len;
    char bytes[ROOM];
    bool there;
    struct waiter *waiters;
} values[KEYS];

static int64_t counter;

static void die(const char *why)
{
    perror(why);
    exit(1);
}

static size_t length_at(const char *p)
{
    uint64_t n;

    memcpy(&n, p, sizeof n);
    return n <= ROOM ? (size_t)n : 0;
}

/* "address/17", "barrier/last" */
static struct value *value_of(const char *key, size_t len)
{
    char text[ROOM + 1];

    memcpy(text, key, len);
    text[len] = 0;
    return &values[text[0] == 'a' && len > 8 ? (unsigned)atoi(text + 8) % LAST : LAST];
}

static void reply(int fd, const void *bytes, size_t len)
{
    if (write(fd, bytes, len) != (ssize_t)len)
        die("write");
}

static void on_set(const char *value, size_t len, struct value *v)
{
    v->len = len;
    memcpy(v->bytes, value, len);
    v->there = true;
    while (v->waiters) {
        struct waiter *w = v->waiters;
        v->waiters = w->next;
        reply(w->fd, "", 1);
        free(w);
    }
}

static void on_wait(int fd, struct value *v)
{
    struct waiter *w;

    if (v->there) {
        reply(fd, "", 1);
        return;
    }
    w = calloc(1, sizeof *w);
    if (!w)
        die("calloc");
    *w = (struct waiter){ fd, v->waiters };
    v->waiters = w;
}

static void on_get(int fd, const struct value *v)
{
    char out[LENGTH + ROOM];
    uint64_t n = v->len;

    memcpy(out, &n, LENGTH);
    memcpy(out + LENGTH, v->bytes, v->len);
    reply(fd, out, LENGTH + v->len);
}

/* One query; the bytes that it takes. */
static size_t query(int fd, const char *in)
{
    size_t skip = in[0] == WAIT ? 1 + LENGTH : 1, n = length_at(in + skip);
    const char *key = in + skip + LENGTH;
    struct value *v = value_of(key, n);

    switch (in[0]) {
    case SET:
        on_set(key + n + LENGTH, length_at(key + n), v);
        return skip + LENGTH + n + LENGTH + length_at(key + n);
    case WAIT: on_wait(fd, v); return skip + LENGTH + n;
    case GET: on_get(fd, v); return skip + LENGTH + n;
    case ADD:
        counter++;
        reply(fd, &counter, LENGTH);
        return skip + LENGTH + n + LENGTH;
    default: fprintf(stderr, "bench-torch-floor: query %d\n", in[0]); exit(1);
    }
}

/* Queries are short, so each comes in one piece; a set may have the next query behind it. */
static void on_client(int fd)
{
    char in[4 * ROOM] = "";
    ssize_t got = read(fd, in, sizeof in / 2);

    for (ssize_t at = 0; at < got;)
        at += (ssize_t)query(fd, in + at);
    if (got <= 0)
        close(fd);
}

static void watch(int poll, int fd)
{
    struct epoll_event e = { .events = EPOLLIN, .data = { .fd = fd } };

    if (epoll_ctl(poll, EPOLL_CTL_ADD, fd, &e) < 0)
        die("epoll_ctl");
}

static void on_connection(int poll, int server)
{
    int one = 1, fd = accept(server, NULL, NULL);

    if (fd < 0)
        die("accept");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watch(poll, fd);
}

static int listening(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (void *)&at, sizeof at) < 0 || listen(fd, 4096) < 0 ||
        getsockname(fd, (void *)&at, &size) < 0)
        die("listen");
    printf("%u\n", ntohs(at.sin_port));
    fflush(stdout);
    return fd;
}

int main(void)
{
    int server = listening(), poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event events[64];

    watch(poll, server);
    watch(poll, STDIN_FILENO);
    for (;;) {
        int n = epoll_wait(poll, events, sizeof events / sizeof *events, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == STDIN_FILENO)
                return 0;
            if (fd == server)
                on_connection(poll, server);
            else
                on_client(fd);
        }
    }
}
