/* libpmi_client.c - fuzz target: a process manager that may say anything to our PMI-1 client.
 *
 * The first byte chooses how the conversation begins (so that what follows is reached), the next
 * eight what the client does; the rest is what the server says, all at once and then nothing more.
 * Whatever it is, every call returns, and what it hands out lies where the caller has room. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/pmi/client.h"
#include "lib/pmi/clique.h"
#include "lib/pmi/kvs.h"
#include "lib/pmi/services.h"
#include "lib/pmi/space.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 8, MOST = 60000, ROOM = 40 };

static const char *const starts[] = {
    "",
    "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"
    "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=1024\n",
    "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1 wireup=1 rank=1 size=4 appnum=0 "
    "universe=-1 kvsname_max=64 keylen_max=64 vallen_max=1024 store=0 kvsname=K\n",
    "cmd=initack\ncmd=set size=4\ncmd=set rank=1\ncmd=set debug=0\n",
};

static int use(void *arg, struct slice value, struct errmsg *err)
{
    uint8_t *sum = arg;

    (void)err;
    for (size_t i = 0; i < value.len; i++) /* reads it all, for the sanitizer */
        *sum ^= (uint8_t)value.ptr[i];
    return CLIENT_OK;
}

static void spawn(struct pmi1_client *c, struct errmsg *err)
{
    static const struct services_command command = { .program = "p", .nprocs = 3 };
    int errors[3];
    const struct services_spawn request = {
        .count = 1, .commands = &command, .nprocs = 3, .errors = errors
    };

    services_spawn(c, &request, err);
}

static void clique(struct pmi1_client *c, struct errmsg *err)
{
    uint32_t count;
    int *ranks;

    if (clique_ranks(c, &ranks, &count, err) == CLIENT_OK)
        free(ranks);
}

static void step(struct pmi1_client *c, unsigned what, struct errmsg *err)
{
    char *key = malloc(ROOM), *value = malloc(ROOM);
    const struct space_pair pair = { key, value, ROOM, ROOM };
    struct slice name;
    uint8_t sum = 0;
    int v;

    if (!key || !value)
        abort();
    switch (what % 14) {
    case 0: client_appnum(c, &v, err); break;
    case 1: client_universe(c, &v, err); break;
    case 2: client_kvsname(c, &name, err); break;
    case 3: kvs_put(c, "K", "key", "value", err); break;
    case 4: kvs_put(c, "K", "other", "a\\b", err); break;
    case 5: kvs_commit(c, "K", err); break;
    case 6: kvs_barrier(c, SLICE_NULL, err); break;
    case 7: kvs_get(c, "K", "name", use, &sum, err); break;
    case 8: clique(c, err); break;
    case 9:
        if (space_create(c, key, ROOM, err) == CLIENT_OK)
            space_destroy(c, key, err);
        break;
    case 10: services_lookup(c, "name", value, ROOM, err); break;
    case 11: services_publish(c, "name", "port", err); break;
    case 12: spawn(c, err); break;
    case 13: space_first(c, "K", &pair, err); break;
    }
    free(key);
    free(value);
}

static void send_bytes(int fd, const void *bytes, size_t n)
{
    if (n && send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* the buffer is full: then that was all */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client_env env = { .wireup_fd = -1, .rank = 1, .size = 4 };
    struct lock gate = LOCK_INIT;
    struct pmi1_client *c = NULL;
    struct errmsg err;
    const char *start;
    int ends[2];

    if (size < 1 + STEPS || size > MOST || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return 0;
    start = starts[data[0] % 4];
    send_bytes(ends[1], start, strlen(start));
    send_bytes(ends[1], data + 1 + STEPS, size - 1 - STEPS);
    shutdown(ends[1], SHUT_WR);
    env.fd = ends[0];
    env.wireup_fd = data[0] % 4 == 2 ? ends[0] : -1;
    env.id = data[0] % 4 == 3 ? "1" : NULL;
    env.traced = data[0] & 16;
    lock_lock(&gate);
    if (client_start(&env, &gate, &c, &err) == CLIENT_OK) {
        for (int i = 0; i < STEPS; i++)
            step(c, data[1 + i], &err);
        client_stop(c, &err);
    }
    lock_unlock(&gate);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
