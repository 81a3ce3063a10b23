/* world.c - see world.h. */
#include "tests/conversation/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/effect.h"
#include "core/input.h"
#include "core/job_event.h"
#include "core/job_kvs.h"
#include "core/procmap.h"

static const struct effect_handlers handlers;

void (*world_own_memory)(bool begin);

/* ---- birth ----------------------------------------------------------------------------------- */

static bool identify(void *arg, const struct peer *newcomer, int64_t id, struct job **job_p,
                     uint32_t *rank_p)
{
    struct world *w = arg;
    struct job *j = w->njobs ? w->jobs[0].job : NULL;

    (void)newcomer;
    if (!j || id < w->id_base || id - w->id_base >= j->plan.nprocs)
        return false;
    *job_p = j;
    *rank_p = (uint32_t)(id - w->id_base);
    return true;
}

void world_open(struct world *w, const struct log *log)
{
    memset(w, 0, sizeof *w);
    if (world_own_memory)
        world_own_memory(true);
    w->effects = calloc(WORLD_EFFECTS, sizeof *w->effects);
    if (world_own_memory)
        world_own_memory(false);
    if (!w->effects)
        abort();
    server_init(&w->server, 7, log);
    effect_host_init(&w->host, &w->server, &handlers, w);
    w->id_base = WORLD_ID_BASE;
    w->server.identify = identify;
    w->server.arg = w;
}

static int grow(struct seg_region *r, uint64_t want, void *arg)
{
    (void)arg;
    r->size = want;
    return 0;
}

/* Mapped, as in the launcher: a test of allocations neither counts nor refuses it. */
static bool open_store(struct seg_region *r)
{
    void *base =
        mmap(NULL, WORLD_STORE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *r = (struct seg_region){ .base = base, .max = WORLD_STORE, .grow = grow };
    return base != MAP_FAILED;
}

static void close_store(struct seg_region *r)
{
    munmap(r->base, WORLD_STORE);
    r->base = NULL;
}

static int fill_plan(struct job_map *p, const struct world_job_params *wanted)
{
    uint32_t nodes = wanted->nodes ? wanted->nodes : 1, n = wanted->nprocs;
    uint32_t each = (n + nodes - 1) / nodes;

    job_map_init(p);
    p->apps = arena_array(&p->arena, 1, sizeof *p->apps);
    p->nodes = arena_array(&p->arena, nodes, sizeof *p->nodes);
    p->procs = arena_array(&p->arena, n, sizeof *p->procs);
    if (!arena_ok(&p->arena))
        return -ENOMEM;
    p->napps = 1;
    p->nnodes = nodes;
    p->nprocs = p->apps[0].nprocs = n;
    p->universe = wanted->universe;
    for (uint32_t i = 0; i < nodes; i++)
        p->nodes[i].name = i ? arena_printf(&p->arena, "node%u", i) : "here";
    for (uint32_t r = 0; r < n; r++) {
        struct job_map_node *node = &p->nodes[r / each];
        p->procs[r] =
            (struct job_map_proc){ .rank = r, .node = r / each, .local_rank = node->nprocs++ };
        node->slots++;
    }
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

static int add_clients(struct world *w, struct world_job *home, const struct world_job_params *p)
{
    for (uint32_t r = 0; r < p->nprocs; r++) {
        struct client *c = &w->clients[w->nclients];
        snprintf(c->name, sizeof c->name, "%s%u", p->clients, r);
        c->home = home;
        c->rank = r;
        buf_init(&c->unread, SIZE_MAX / 4);
        w->nclients++;
        if (!p->port && !(c->peer = server_peer_new(&w->server, home->job, r, p->fds, c)))
            return -ENOMEM;
        home->job->procs[r].pid = (int)(100 * w->njobs + r);
        job_event(home->job, r, PROC_EVENT_STARTED, 0);
    }
    return 0;
}

int world_job(struct world *w, const struct world_job_params *p)
{
    struct world_job *home = &w->jobs[w->njobs];
    struct buf map = BUF_NULL(1023);
    struct job_map plan;

    if (w->njobs == WORLD_JOBS || w->nclients + p->nprocs > WORLD_CLIENTS)
        return -EINVAL;
    if (!open_store(&home->region))
        return -ENOMEM;
    if (fill_plan(&plan, p) < 0) {
        job_map_free(&plan);
        close_store(&home->region);
        return -ENOMEM;
    }
    home->job =
        core_job_add(&w->server.core, p->nspace, &plan, &home->region, p->parent, p->keep_going);
    if (!home->job) {
        job_map_free(&plan);
        close_store(&home->region);
        return -ENOMEM;
    }
    w->njobs++;
    if (p->id_base)
        w->id_base = p->id_base < 0 ? 0 : p->id_base;
    procmap_of_plan(&home->job->plan, &map);
    if (buf_ok(&map))
        job_preset(home->job, SLICE("PMI_process_mapping"), buf_slice(&map));
    buf_free(&map);
    return add_clients(w, home, p);
}

struct client *world_stranger(struct world *w, const char *name)
{
    struct client *c = &w->clients[w->nclients];

    if (w->nclients == WORLD_CLIENTS)
        return NULL;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->stranger = true;
    buf_init(&c->unread, SIZE_MAX / 4);
    c->peer = server_peer_new(&w->server, NULL, 0, false, c);
    w->nclients++;
    return c->peer ? c : NULL;
}

struct client *world_client(struct world *w, struct slice name)
{
    for (uint32_t i = 0; i < w->nclients; i++) {
        if (slice_is(name, w->clients[i].name))
            return &w->clients[i];
    }
    return NULL;
}

void world_close(struct world *w)
{
    for (uint32_t i = 0; i < w->neffects; i++)
        effect_drop(&w->effects[i]);
    free(w->effects);
    for (uint32_t i = 0; i < w->nclients; i++)
        buf_free(&w->clients[i].unread);
    server_free(&w->server);
    for (uint32_t i = 0; i < w->njobs; i++)
        close_store(&w->jobs[i].region);
    memset(w, 0, sizeof *w);
}

/* ---- the host's loop ------------------------------------------------------------------------- */

static void close_connection(struct world *w, struct client *c)
{
    c->peer = server_peer_free(&w->server, c->peer);
}

static void write_out(struct world *w, struct client *c)
{
    struct slice bytes = buf_slice(&c->peer->out);

    if (c->deaf && !c->peer->hung_up)
        return;
    c->got_store = c->got_store || (bytes.len && c->peer->pass_store);
    if (bytes.len)
        c->peer->pass_store = false;
    if (world_own_memory)
        world_own_memory(true);
    buf_slice_put(&c->unread, bytes);
    if (world_own_memory)
        world_own_memory(false);
    c->received += bytes.len;
    server_wrote(&w->server, c->peer, bytes.len);
    if (c->peer->closing)
        close_connection(w, c);
}

static void keep_effect(void *arg, struct effect *e)
{
    struct world *w = arg;

    if (w->neffects == WORLD_EFFECTS) { /* a test that makes so many looks at none of them */
        effect_drop(&w->effects[0]);
        memmove(w->effects, w->effects + 1, (WORLD_EFFECTS - 1) * sizeof *e);
        w->neffects--;
        w->expected -= w->expected > 0;
    }
    w->effects[w->neffects++] = *e;
    *e = EFFECT_WITH(answer, .ticket = 0);
}

static void write_pending(void *arg, struct peer *p)
{
    write_out(arg, p->host);
}

static const struct effect_handlers handlers = { .others = keep_effect, .write = write_pending };

void world_settle(struct world *w)
{
    effect_host_settle(&w->host);
}

void world_send(struct world *w, struct client *c, struct slice bytes)
{
    if (c->peer)
        server_deliver(&w->server,
                       INPUT_AT(++w->now_ns, in, .connection = c->peer->id, .bytes = bytes));
    world_settle(w);
}

void world_hangup(struct world *w, struct client *c)
{
    if (c->peer)
        server_deliver(&w->server, INPUT(hangup, .connection = c->peer->id));
    world_settle(w);
}

void world_reap(struct world *w, struct client *c, int code)
{
    if (!c->gone && !c->stranger)
        job_event(c->home->job, c->rank, PROC_EVENT_EXIT, code);
    c->gone = true;
    world_settle(w);
}

void world_end(struct world *w, struct client *c, bool signalled, int code)
{
    world_hangup(w, c);
    if (!c->gone && !c->stranger)
        job_event(c->home->job, c->rank, signalled ? PROC_EVENT_DEATH : PROC_EVENT_EXIT, code);
    c->gone = true;
    world_settle(w);
}

void world_listen(struct world *w, struct client *c, bool deaf)
{
    c->deaf = deaf;
    if (!deaf && c->peer)
        write_out(w, c);
    world_settle(w);
}

bool world_answer_spawn(struct world *w, const struct answer *a)
{
    for (uint32_t i = 0; i < w->neffects; i++) {
        struct effect *e = &w->effects[i];
        if (e->kind == EFFECT_spawn && e->u.spawn.request) {
            e->u.spawn.request = spawn_free(e->u.spawn.request);
            server_answer(&w->server, e->u.spawn.ticket, a);
            world_settle(w);
            return true;
        }
    }
    return false;
}

static uint32_t count(const struct world *w, enum effect_kind kind, const struct job *j)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->neffects; i++)
        n += w->effects[i].kind == kind && effect_job(&w->effects[i]) == j->id;
    return n;
}

uint32_t world_kills(const struct world *w, const struct job *j)
{
    return count(w, EFFECT_kill, j);
}

uint32_t world_ends(const struct world *w, const struct job *j)
{
    return count(w, EFFECT_job_ended, j);
}

void world_end_all(struct world *w)
{
    for (uint32_t i = 0; i < w->nclients; i++) {
        if (w->clients[i].stranger)
            world_hangup(w, &w->clients[i]);
        else
            world_end(w, &w->clients[i], false, 0);
    }
}
