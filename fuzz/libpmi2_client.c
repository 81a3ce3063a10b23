/* libpmi2_client.c - fuzz target: a process manager that may say anything to our PMI-2 client.
 *
 * The first byte chooses how the conversation begins (so that what follows is reached), the next
 * eight what the client does; the rest is what the server says, all at once and then nothing more.
 * Whatever it is, every call returns, and what it hands out lies where the caller has room. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/pmi2/data.h"
#include "lib/pmi2/jobs.h"
#include "lib/pmi2/member.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 8, MOST = 60000 };

static const char *const starts[] = {
    "",
    "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n",
    ("cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n"
     "113   cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=1;size=4;appnum=0;"
     "debugged=FALSE;pmiverbose=FALSE;rc=0;"),
    ("cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0 wireup=1 rank=1 size=4 appnum=0 "
     "universe=-1 store=0 whole=0 node=0 kvsname=K\n"),
};

static int use(void *arg, struct slice value, struct errmsg *err)
{
    uint8_t *sum = arg;

    (void)err;
    for (size_t i = 0; i < value.len; i++) /* reads it all, for the sanitizer */
        *sum ^= (uint8_t)value.ptr[i];
    return MEMBER_OK;
}

static void spawn(struct pmi2_client *m, uint8_t *sum, struct errmsg *err)
{
    static const struct jobs_command command = { .program = "p", .nprocs = 3 };
    int errors[3];
    const struct jobs_spawn request = {
        .commands = &command, .count = 1, .nprocs = 3, .errors = errors, .use = use, .arg = sum
    };

    jobs_spawn(m, &request, err);
}

static void step(struct pmi2_client *m, unsigned what, struct errmsg *err)
{
    uint8_t sum = 0;
    struct jobs_ring ring = { .use = use, .left = &sum, .right = &sum };
    struct slice id;
    bool found;

    switch (what % 14) {
    case 0: member_jobid(m, &id, err); break;
    case 1: data_put(m, "key", "value", err); break;
    case 2: data_put(m, "other", "a;b", err); break;
    case 3: data_fence(m, err); break;
    case 4: data_get(m, NULL, -1, "name", use, &sum, err); break;
    case 5: data_get(m, "job", 2, "name", use, &sum, err); break;
    case 6: data_put_node(m, "n", "v", err); break;
    case 7: data_get_node(m, "m", true, &found, use, &sum, err); break;
    case 8: data_get_job(m, "PMI_x", &found, use, &sum, err); break;
    case 9: jobs_lookup(m, "name", use, &sum, err); break;
    case 10: jobs_publish(m, "name", "port", err); break;
    case 11: jobs_connect(m, "job", err); break;
    case 12: spawn(m, &sum, err); break;
    case 13: jobs_ring(m, "r", &ring, err); break;
    }
}

static void send_bytes(int fd, const void *bytes, size_t n)
{
    if (n && send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* the buffer is full: then that was all */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client_env env = { .wireup_fd = -1, .rank = 1, .size = 4 };
    struct pmi2_client *m = NULL;
    struct lock gate = LOCK_INIT;
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
    env.wireup_fd = data[0] % 4 == 3 ? ends[0] : -1;
    env.traced = data[0] & 16;
    lock_lock(&gate);
    if (member_start(&env, &gate, &m, &err) == MEMBER_OK) {
        for (int i = 0; i < STEPS; i++)
            step(m, data[1 + i], &err);
        member_stop(m, &err);
    }
    lock_unlock(&gate);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
