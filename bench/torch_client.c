/* torch_client.c - a client of PyTorch's TCPStore (proto/tcpstore.def), for bench/torch: what a
 * process of PyTorch asks of its store while it initializes.
 *
 *   bench-torch 1|2      by the messages of 1.13, or by those of 2.2 and later
 *
 * connect; barrier: one counts, and the last tells the others; exchange: each process sets an
 * address and gets those of all others, as gloo does: each after a wait; where
 * GLOO_ENABLE_STORE_V2_API is set, 128 at once (gloo of 2025 and later).  All ranks begin a phase
 * together.  Rank 0 prints the microseconds of each phase until its last rank was through it.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pmi.h"

/* Their numbers in the first dialect; the second has one more in front. */
enum {
    SET = 0,
    GET = 2,
    ADD = 3,
    WAIT = 5,
    MULTI_GET = 10,
    ADDRESS = 120,
    ROOM = 8192,
    BATCH = 128
};

static const uint32_t magic = 0x3c85f7ce;

struct query {
    char bytes[ROOM];
    size_t len;
};

static void die(const char *why)
{
    fprintf(stderr, "bench-torch: %s\n", why);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_bytes(struct query *q, const void *bytes, size_t len)
{
    if (q->len + len > sizeof q->bytes)
        die("a query is too long");
    memcpy(q->bytes + q->len, bytes, len);
    q->len += len;
}

static void put_number(struct query *q, int64_t n)
{
    put_bytes(q, &n, sizeof n);
}

static void put_text(struct query *q, const char *text, size_t len)
{
    put_number(q, (int64_t)len);
    put_bytes(q, text, len);
}

struct rank {
    int fd, rank, size;
    bool second, batches; /* the dialect; as gloo of 2025 asks */
};

static void begin(const struct rank *r, struct query *q, int number)
{
    char byte = (char)(r->second && number < MULTI_GET ? number + 1 : number);

    q->len = 0;
    put_bytes(q, &byte, 1);
}

static void send_query(int fd, const struct query *q)
{
    if (write(fd, q->bytes, q->len) != (ssize_t)q->len)
        die("the store does not take a query");
}

static void take(int fd, void *to, size_t len)
{
    for (size_t have = 0; have < len;) {
        ssize_t n = read(fd, (char *)to + have, len - have);
        if (n <= 0)
            die("the store has closed the connection");
        have += (size_t)n;
    }
}

static int64_t take_number(int fd)
{
    int64_t n;

    take(fd, &n, sizeof n);
    return n;
}

static void set(const struct rank *r, const char *key, const char *value, size_t len)
{
    struct query q;

    begin(r, &q, SET);
    put_text(&q, key, strlen(key));
    put_text(&q, value, len);
    send_query(r->fd, &q);
}

static void put_keys(struct query *q, const char (*keys)[32], int n)
{
    put_number(q, n);
    for (int i = 0; i < n; i++)
        put_text(q, keys[i], strlen(keys[i]));
}

static void wait_for(const struct rank *r, const char (*keys)[32], int n)
{
    struct query q;
    char ready;

    begin(r, &q, WAIT);
    put_keys(&q, keys, n);
    send_query(r->fd, &q);
    take(r->fd, &ready, 1);
    if (ready != 0)
        die("a wait was not for this key");
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void connect_store(struct rank *r)
{
    const char *address = getenv("MASTER_ADDR"), *port = getenv("MASTER_PORT");
    struct sockaddr_in at = { .sin_family = AF_INET };
    struct query q;
    int one = 1;

    if (!address || !port || inet_pton(AF_INET, address, &at.sin_addr) != 1)
        die("MASTER_ADDR and MASTER_PORT say where the store is");
    at.sin_port = htons((uint16_t)atoi(port));
    r->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (r->fd < 0 || connect(r->fd, (void *)&at, sizeof at) < 0)
        die("the store cannot be reached");
    setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!r->second)
        return;
    begin(r, &q, -1); /* VALIDATE */
    put_bytes(&q, &magic, sizeof magic);
    send_query(r->fd, &q);
}

static void barrier(struct rank *r)
{
    struct query q;

    begin(r, &q, ADD);
    put_text(&q, "barrier", 7);
    put_number(&q, 1);
    send_query(r->fd, &q);
    if (take_number(r->fd) == r->size)
        set(r, "barrier/last", "1", 1);
    wait_for(r, (const char[1][32]){ "barrier/last" }, 1);
}

static void take_address(const struct rank *r, int whose)
{
    char value[ADDRESS];

    if (take_number(r->fd) != ADDRESS)
        die("a wrong address");
    take(r->fd, value, ADDRESS);
    if (atoi(value) != whose)
        die("the address of another rank");
}

/* Those of n ranks from this one on. */
static void get_addresses(struct rank *r, int first, int n)
{
    char keys[BATCH][32];
    struct query q;

    for (int i = 0; i < n; i++)
        snprintf(keys[i], sizeof keys[i], "address/%d", (first + i) % r->size);
    wait_for(r, (const char(*)[32])keys, n);
    begin(r, &q, r->batches ? MULTI_GET : GET);
    if (r->batches)
        put_keys(&q, (const char(*)[32])keys, n);
    else
        put_text(&q, keys[0], strlen(keys[0]));
    send_query(r->fd, &q);
    for (int i = 0; i < n; i++)
        take_address(r, (first + i) % r->size);
}

static void exchange(struct rank *r)
{
    char key[32], value[ADDRESS] = "";
    int most = r->batches ? BATCH : 1;

    snprintf(key, sizeof key, "address/%d", r->rank);
    snprintf(value, sizeof value, "%d", r->rank);
    set(r, key, value, ADDRESS);
    for (int other = 0; other < r->size; other += most)
        get_addresses(r, r->rank + other, r->size - other < most ? r->size - other : most);
}

/* ---- figures --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(struct rank *r);
} phases[] = { { "connect", connect_store }, { "barrier", barrier }, { "exchange", exchange } };

enum { PHASES = sizeof phases / sizeof *phases };

static void report(const struct rank *r, const char *space, int phase)
{
    double last = 0, one;
    char key[64], value[64];

    for (int i = 0; i < r->size; i++) {
        snprintf(key, sizeof key, "%d.%d", phase, i);
        if (PMI_KVS_Get(space, key, value, sizeof value) != PMI_SUCCESS || (one = atof(value)) < 0)
            die("a figure is missing");
        last = one > last ? one : last;
    }
    printf("%s_us %.1f\n", phases[phase].name, last);
}

int main(int argc, char **argv)
{
    const char *batches = getenv("GLOO_ENABLE_STORE_V2_API");
    struct rank r = { .fd = -1, .second = argc > 1 && atoi(argv[1]) == 2 };
    char space[256], key[64], value[64];
    int spawned;

    if (PMI_Init(&spawned) != PMI_SUCCESS || PMI_Get_rank(&r.rank) != PMI_SUCCESS ||
        PMI_Get_size(&r.size) != PMI_SUCCESS ||
        PMI_KVS_Get_my_name(space, sizeof space) != PMI_SUCCESS)
        die("no process manager");
    r.batches = batches && (!strcmp(batches, "1") || !strcmp(batches, "True"));
    for (int phase = 0; phase < PHASES; phase++) {
        double start;
        PMI_Barrier();
        start = now_us();
        phases[phase].run(&r);
        snprintf(key, sizeof key, "%d.%d", phase, r.rank);
        snprintf(value, sizeof value, "%.1f", now_us() - start);
        PMI_KVS_Put(space, key, value);
    }
    PMI_KVS_Commit(space);
    PMI_Barrier();
    for (int phase = 0; phase < PHASES && r.rank == 0; phase++)
        report(&r, space, phase);
    PMI_Finalize();
    return 0;
}
