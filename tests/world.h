/* world.h - whole jobs without a socket, for tests: sessions, core and server in one struct.
 *
 * Include once per test program.  Effects that the host would carry out are remembered in `last`.
 */
#ifndef WIREUP_TESTS_WORLD_H
#define WIREUP_TESTS_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/effect.h"
#include "core/input.h"
#include "core/job_event.h"
#include "server/effect_host.h"
#include "store/memory.h"
#include "tests/tap.h"

#ifndef WORLD_STORE
#define WORLD_STORE (1 << 24) /* bytes for the store of each job */
#endif

enum { WORLD_RANKS = 64, WORLD_JOBS = 2 };

struct world_job {
    struct seg_region region;
    struct job *job;
    struct peer *peers[WORLD_RANKS];
};

struct world {
    struct server server;
    struct effect_host host;
    struct world_job jobs[WORLD_JOBS];
    uint32_t njobs;
    uint64_t now;
    struct effect last; /* the last one that was not an answer */
    unsigned effects;
};

/* Ranks are dealt to the nodes in turn (cyclic), so that node order is not rank order. */
__attribute__((unused)) static bool world_plan(struct job_map *p, uint32_t n, uint32_t nodes)
{
    static const char *const names[] = { "a", "b", "c", "d" };

    job_map_init(p);
    p->apps = arena_array(&p->arena, 1, sizeof *p->apps);
    p->nodes = arena_array(&p->arena, nodes, sizeof *p->nodes);
    p->procs = arena_array(&p->arena, n, sizeof *p->procs);
    if (!arena_ok(&p->arena))
        return false;
    p->napps = 1;
    p->nnodes = nodes;
    p->nprocs = n;
    p->universe = -1;
    p->apps[0].nprocs = n;
    for (uint32_t i = 0; i < nodes; i++)
        p->nodes[i] = (struct job_map_node){ .name = names[i % 4], .slots = n };
    for (uint32_t r = 0; r < n; r++)
        p->procs[r] = (struct job_map_proc){ .rank = r,
                                             .node = r % nodes,
                                             .local_rank = p->nodes[r % nodes].nprocs++ };
    return true;
}

/* A job of n ranks on so many nodes; its number in the world.  Children of job `parent`, or of
 * nobody (JOB_NO_RANK). */
__attribute__((unused)) static uint32_t world_job(struct world *w, uint32_t n, uint32_t nodes,
                                                  uint32_t parent)
{
    struct world_job *j = &w->jobs[w->njobs];
    char name[32];
    struct job_map plan;

    snprintf(name, sizeof name, "job_%u", w->njobs);
    if (!world_plan(&plan, n, nodes) || seg_memory_open(WORLD_STORE, &j->region) < 0)
        abort();
    j->job = core_job_add(&w->server.core, name, &plan, &j->region, parent, false);
    if (!j->job)
        abort();
    for (uint32_t r = 0; r < n; r++) {
        j->peers[r] = server_peer_new(&w->server, j->job, r, false, NULL);
        job_event(j->job, r, PROC_EVENT_STARTED, 0);
    }
    return w->njobs++;
}

static void world_keep(void *arg, struct effect *e)
{
    struct world *w = arg;

    effect_drop(&w->last);
    w->last = *e;
    w->effects++;
    *e = EFFECT_WITH(answer, .ticket = 0);
}

static const struct effect_handlers world_handlers = { .others = world_keep };

__attribute__((unused)) static void world_open(struct world *w, uint32_t n, uint32_t nodes)
{
    memset(w, 0, sizeof *w);
    server_init(&w->server, 7, NULL);
    effect_host_init(&w->host, &w->server, &world_handlers, w);
    world_job(w, n, nodes, JOB_NO_RANK);
}

__attribute__((unused)) static void world_close(struct world *w)
{
    effect_drop(&w->last);
    server_free(&w->server);
    for (uint32_t i = 0; i < w->njobs; i++)
        seg_memory_close(&w->jobs[i].region);
}

__attribute__((unused)) static void world_settle(struct world *w)
{
    effect_host_settle(&w->host);
}

/* What has been said on the connection since the last call. */
__attribute__((unused)) static const char *world_received(struct peer *p)
{
    static char text[1 << 16];
    struct slice s = buf_slice(&p->out);

    snprintf(text, sizeof text, SLICE_FMT, SLICE_ARG(s));
    buf_take(&p->out, s.len);
    return text;
}

__attribute__((unused)) static void world_write(struct world *w, struct peer *p, struct slice bytes)
{
    server_deliver(&w->server, INPUT_AT(++w->now, in, .connection = p->id, .bytes = bytes));
    world_settle(w);
}

#endif
