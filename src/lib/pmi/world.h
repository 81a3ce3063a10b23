/* world.h - a real job for tests of client libraries: Wireup's server in a thread of this process,
 * with a store in a sealed memfd, and a connection for each rank.
 *
 * Include once, in the file with main().
 */
#ifndef WIREUP_LIB_PMI_WORLD_H
#define WIREUP_LIB_PMI_WORLD_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/effect.h"
#include "core/input.h"
#include "core/job_event.h"
#include "core/job_kvs.h"
#include "core/procmap.h"
#include "server/effect_host.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { WORLD_RANKS = 16, WORLD_STORE = 256 << 20 };

struct world {
    struct server server;
    struct effect_host host;
    struct seg_region region;
    struct job *job;
    struct peer *peers[WORLD_RANKS];
    int ends[WORLD_RANKS][2]; /* client's, server's */
    uint32_t n;
    int memfd;
    int stop[2];
    bool no_store;
    bool killed;   /* the job was to be killed */
    uint64_t held; /* ticket of a spawn of "held", which is answered once "release" is published */
    struct errmsg reason;
    pthread_t thread;
};

/* ---- the store's home ------------------------------------------------------------------------ */

static int world_grow(struct seg_region *r, uint64_t want, void *arg)
{
    struct world *w = arg;

    if (ftruncate(w->memfd, (off_t)want) < 0)
        return -ENOSPC;
    r->size = want;
    return 0;
}

static void world_open_store(struct world *w)
{
    w->memfd = memfd_create("wireup-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    w->region = (struct seg_region){ .max = WORLD_STORE, .grow = world_grow, .arg = w };
    w->region.base = mmap(NULL, WORLD_STORE, PROT_READ | PROT_WRITE, MAP_SHARED, w->memfd, 0);
    if (w->memfd < 0 || w->region.base == MAP_FAILED ||
        fcntl(w->memfd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
        abort();
}

/* ---- the server's loop ----------------------------------------------------------------------- */

static void world_write(struct world *w, uint32_t r)
{
    struct peer *p = w->peers[r];
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;

    while (buf_len(&p->out)) {
        struct slice s = buf_slice(&p->out);
        struct iovec iov = { (void *)(uintptr_t)s.ptr, s.len };
        struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
        ssize_t n;
        if (p->pass_store && !w->no_store) {
            m.msg_control = control.bytes;
            m.msg_controllen = sizeof control.bytes;
            *CMSG_FIRSTHDR(&m) = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
            memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), &w->memfd, sizeof(int));
        }
        p->pass_store = false;
        n = sendmsg(w->ends[r][1], &m, MSG_NOSIGNAL);
        server_wrote(&w->server, p, n > 0 ? (size_t)n : s.len);
    }
    if (p->closing)
        shutdown(w->ends[r][1], SHUT_RDWR);
}

static void world_spawn(struct world *w, const struct op_spawn *e)
{
    const char *program = e->request->commands[0].program;
    bool known = strcmp(program, "missing") != 0;
    int codes[2] = { 0, 42 };
    struct answer a =
        ANSWER_TO(spawn, known ? ANSWER_OK : ANSWER_FAILED, .codes = { codes, known ? 0 : 2 });

    if (!strcmp(program, "held"))
        w->held = e->ticket;
    else
        server_answer(&w->server, e->ticket, &a);
}

static void world_on_spawn(void *arg, struct effect *e)
{
    world_spawn(arg, &e->u.spawn);
}

static void world_on_kill(void *arg, struct effect *e)
{
    struct world *w = arg;

    (void)e;
    w->killed = true;
}

static void world_write_out(void *arg, struct peer *p)
{
    world_write(arg, p->rank);
}

static effect_fn *const world_kinds[OPERATIONS] = {
    [EFFECT_spawn] = world_on_spawn, [EFFECT_kill] = world_on_kill
};
static const struct effect_handlers world_handlers = { .kinds = world_kinds,
                                                       .write = world_write_out };

static void world_settle(struct world *w)
{
    effect_host_settle(&w->host);
    if (w->held && nameservice_is_used(&w->server.core.names, SLICE("release"))) {
        struct answer a = ANSWER_TO(spawn, ANSWER_OK, .nspace = SLICE("children"));
        server_answer(&w->server, w->held, &a);
        w->held = 0;
        effect_host_flush(&w->host);
    }
}

static void *world_main(void *arg)
{
    static char bytes[1 << 16];
    struct world *w = arg;
    struct pollfd fds[WORLD_RANKS + 1];
    uint64_t now = 0;

    for (;;) {
        for (uint32_t r = 0; r < w->n; r++)
            fds[r] = (struct pollfd){ w->peers[r]->hung_up ? -1 : w->ends[r][1], POLLIN, 0 };
        fds[w->n] = (struct pollfd){ w->stop[0], POLLIN, 0 };
        if (poll(fds, w->n + 1, -1) < 0)
            continue;
        for (uint32_t r = 0; r < w->n; r++) {
            ssize_t n;
            if (!fds[r].revents)
                continue;
            n = recv(w->ends[r][1], bytes, sizeof bytes, 0);
            if (n > 0)
                server_deliver(&w->server, INPUT_AT(++now, in, .connection = w->peers[r]->id,
                                                    .bytes = slice_mem(bytes, (size_t)n)));
            else
                server_deliver(&w->server, INPUT(hangup, .connection = w->peers[r]->id));
        }
        world_settle(w);
        if (fds[w->n].revents)
            return NULL;
    }
}

/* ---- set-up and tear-down
 * --------------------------------------------------------------------- */

static void world_begin(struct world *w, uint32_t n, bool no_store)
{
    struct job_map plan;

    memset(w, 0, sizeof *w);
    w->n = n;
    w->no_store = no_store;
    world_open_store(w);
    server_init(&w->server, 7, NULL);
    effect_host_init(&w->host, &w->server, &world_handlers, w);
    plan_of_one_node(&plan, n);
    plan.universe = 64;
    w->job = core_job_add(&w->server.core, "wireup-test", &plan, &w->region, JOB_NO_RANK, false);
    if (!w->job || pipe(w->stop) < 0)
        abort();
    job_preset(w->job, SLICE("PMI_process_mapping"), SLICE("(vector,(0,1,16))"));
    for (uint32_t r = 0; r < n; r++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, w->ends[r]) < 0)
            abort();
        w->peers[r] = server_peer_new(&w->server, w->job, r, true, NULL);
        job_event(w->job, r, PROC_EVENT_STARTED, 0);
    }
    if (pthread_create(&w->thread, NULL, world_main, w) != 0)
        abort();
}

static void world_end(struct world *w)
{
    if (write(w->stop[1], "", 1) != 1)
        abort();
    pthread_join(w->thread, NULL);
    for (uint32_t r = 0; r < w->n; r++) {
        close(w->ends[r][0]);
        close(w->ends[r][1]);
    }
    close(w->stop[0]);
    close(w->stop[1]);
    w->reason = w->job->reason;
    server_free(&w->server);
    munmap(w->region.base, WORLD_STORE);
    close(w->memfd);
}

/* The environment of one rank, as wireup sets it. */
static void world_env(const struct world *w, uint32_t rank)
{
    char number[16];

    snprintf(number, sizeof number, "%d", w->ends[rank][0]);
    setenv("PMI_FD", number, 1);
    setenv("WIREUP_FD", number, 1);
    snprintf(number, sizeof number, "%u", rank);
    setenv("PMI_RANK", number, 1);
    snprintf(number, sizeof number, "%u", w->n);
    setenv("PMI_SIZE", number, 1);
}

#endif
