/* server_host.c - functions for the host of a server besides server_deliver(): the trace, and new
 * jobs. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/collective_nodes.h"
#include "core/control.h"
#include "core/core_effect.h"
#include "core/core_names.h"
#include "core/core_request.h"
#include "core/effect.h"
#include "core/job_connect.h"
#include "core/job_end.h"
#include "core/job_event.h"
#include "core/job_kvs.h"
#include "core/proc_connect.h"
#include "core/modex.h"
#include "core/exchange_data.h"
#include "core/request.h"
#include "pmix_common.h"
#include "trace/record.h"
#include "server/server_priv.h"
#include "wire/pmix_pack.h"

/* ---- trace ----------------------------------------------------------------------------------- */

const char *server_started(const struct core *c, char room[SERVER_STARTED_ROOM])
{
    time_t then = (time_t)c->started_s;

    if (c->started || !then || !ctime_r(&then, room))
        return c->started;
    room[strcspn(room, "\n")] = '\0';
    return room;
}

void server_record(struct server *s, server_recorder *fn, void *arg, uint64_t wall_ns,
                   const char *node)
{
    char started[SERVER_STARTED_ROOM];

    s->recorder = fn;
    s->recorder_arg = arg;
    RECORD_OUTPUT(
        s, begin, .wall_ns = wall_ns, .seed = s->core.seed, .neighbours = s->core.has_neighbours,
        .version = SLICE(WIREUP_VERSION), .node = slice_str(node), .topology = s->core.has_topology,
        .others = s->core.has_others, .names_elsewhere = s->core.names_elsewhere,
        .position = s->core.position, .tools = s->core.takes_tools, .manager = s->core.is_manager,
        .name = slice_str(s->core.name), .uri = slice_str(s->core.uri),
        .sessions = slice_str(s->core.sessions), .uid = s->core.uid, .gid = s->core.gid,
        .hostname = slice_str(s->core.hostname), .memory = s->core.memory,
        .epoch = s->core.wall_offset_ns, .started = slice_str(server_started(&s->core, started)));
}

void server_record_end(struct server *s)
{
    if (s->recorder)
        server_notify(s, &(struct record){ .kind = RECORD_end });
    s->recorder = NULL;
}

static int64_t signed_id(uint32_t id)
{
    return id == JOB_NO_RANK ? -1 : (int64_t)id;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* The placement, four numbers for each run of ranks with consecutive local ranks. */
static uint32_t *make_runs(const struct job_map *p, uint32_t *n_p)
{
    uint32_t *runs = calloc(p->nprocs + (size_t)1, 4 * sizeof *runs);
    uint32_t n = 0;

    for (uint32_t r = 0; runs && r < p->nprocs; r++) {
        const struct job_map_proc *q = &p->procs[r];
        uint32_t *last = n ? runs + 4 * (size_t)(n - 1) : NULL;
        if (last && last[1] == q->app && last[2] == q->node && last[3] + last[0] == q->local_rank) {
            last[0]++;
        } else {
            uint32_t run[4] = { 1, q->app, q->node, q->local_rank };
            memcpy(runs + 4 * (size_t)n++, run, sizeof run);
        }
    }
    *n_p = 4 * n;
    return runs;
}

static uint32_t count_args(const struct job_map *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->napps; i++)
        n += p->apps[i].argv && p->apps[i].argc ? p->apps[i].argc - 1 : 0;
    return n;
}

/* The arguments of all applications; how many each has goes to argcs. */
static struct slice *list_args(const struct job_map *p, uint32_t *argcs)
{
    struct slice *words = calloc(count_args(p) + (size_t)1, sizeof *words);
    uint32_t n = 0;

    for (uint32_t i = 0; words && argcs && i < p->napps; i++) {
        argcs[i] = p->apps[i].argv && p->apps[i].argc ? p->apps[i].argc - 1 : 0;
        for (uint32_t a = 0; a < argcs[i]; a++)
            words[n++] = slice_str(p->apps[i].argv[a + 1]);
    }
    return words;
}

/* The lists of a record that are made for it. */
struct job_lists {
    struct slice *programs, *wdirs, *psets, *nodes, *words, *placement, *places;
    uint32_t *slots, *argcs, *bound, nbound, *stops, nstops, *restarts;
    bool restarts_some;
};

static uint32_t count_bound(const struct job_map *p)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < p->nprocs; r++)
        n += p->procs[r].place != NULL;
    return n;
}

/* Two of each list for each process that is bound. */
static void list_bound(const struct job_map *p, struct job_lists *l)
{
    for (uint32_t r = 0, n = 0; r < p->nprocs; r++) {
        const struct job_map_place *place = p->procs[r].place;
        if (!place)
            continue;
        l->bound[n] = r;
        l->places[n++] = slice_str(place->cpuset ? place->cpuset : "");
        l->bound[n] = p->procs[r].package_rank;
        l->places[n++] = slice_str(place->locality ? place->locality : "");
    }
}

static uint32_t count_stops(const struct job_map *p)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < p->nprocs; r++)
        n += p->procs[r].stops != 0;
    return n;
}

static void list_stops(const struct job_map *p, uint32_t *stops)
{
    for (uint32_t r = 0; r < p->nprocs; r++) {
        if (!p->procs[r].stops)
            continue;
        *stops++ = r;
        *stops++ = p->procs[r].stops;
    }
}

static bool make_lists(const struct job *j, struct job_lists *l)
{
    const struct job_map *p = &j->plan;

    *l = (struct job_lists){ .nbound = 2 * count_bound(p), .nstops = 2 * count_stops(p) };
    l->programs = calloc(p->napps + (size_t)1, sizeof *l->programs);
    l->wdirs = calloc(p->napps + (size_t)1, sizeof *l->wdirs);
    l->psets = calloc(p->napps + (size_t)1, sizeof *l->psets);
    l->nodes = calloc(p->nnodes + (size_t)1, sizeof *l->nodes);
    l->slots = calloc(p->nnodes + (size_t)1, sizeof *l->slots);
    l->argcs = calloc(p->napps + (size_t)1, sizeof *l->argcs);
    l->restarts = calloc(p->napps + (size_t)1, sizeof *l->restarts);
    l->words = list_args(p, l->argcs);
    l->placement = calloc(JOB_MAP_WORDS, sizeof *l->placement);
    l->places = calloc(l->nbound + (size_t)1, sizeof *l->places);
    l->bound = calloc(l->nbound + (size_t)1, sizeof *l->bound);
    l->stops = calloc(l->nstops + (size_t)1, sizeof *l->stops);
    return l->programs && l->wdirs && l->psets && l->nodes && l->slots && l->argcs && l->words &&
           l->restarts && l->placement && l->places && l->bound && l->stops;
}

static void free_lists(struct job_lists *l)
{
    free(l->programs);
    free(l->wdirs);
    free(l->psets);
    free(l->nodes);
    free(l->slots);
    free(l->argcs);
    free(l->restarts);
    free(l->words);
    free(l->placement);
    free(l->places);
    free(l->bound);
    free(l->stops);
}

static void fill_lists(const struct job *j, struct job_lists *l)
{
    const struct job_map *p = &j->plan;

    for (uint32_t i = 0; i < p->napps; i++) {
        l->programs[i] = slice_str(p->apps[i].argv ? p->apps[i].argv[0] : "");
        l->wdirs[i] = slice_str(p->apps[i].wdir ? p->apps[i].wdir : j->wdir);
        l->psets[i] = slice_str(p->apps[i].pset ? p->apps[i].pset : "");
        l->restarts[i] = p->apps[i].restarts;
        l->restarts_some = l->restarts_some || l->restarts[i];
    }
    for (uint32_t i = 0; i < p->nnodes; i++) {
        l->nodes[i] = slice_str(p->nodes[i].name);
        l->slots[i] = p->nodes[i].slots;
    }
    for (uint32_t i = 0; i < JOB_MAP_WORDS; i++)
        l->placement[i] = slice_str(p->words[i] ? p->words[i] : "");
    list_bound(p, l);
    list_stops(p, l->stops);
}

/* Without memory the trace cannot be replayed, and its reader reports that. */
static void record_job(const struct server *s, const struct job *j)
{
    const struct job_map *p = &j->plan;
    uint32_t nruns, *runs = make_runs(p, &nruns);
    struct job_lists l;

    if (make_lists(j, &l) && runs) {
        fill_lists(j, &l);
        RECORD_OUTPUT(
            s, job, .job = j->id, .parent = signed_id(j->parent), .keep_going = j->keep_going,
            .nspace = slice_str(j->nspace), .universe = p->universe,
            .apps = { l.programs, p->napps }, .nodes = { l.nodes, p->nnodes },
            .runs = { runs, nruns }, .wdirs = { l.wdirs, p->napps },
            .slots = { l.slots, p->nnodes }, .here = (uint32_t)(j->here + 1), .follows = j->follows,
            .base = j->base + UINT64_C(1), .tool = j->is_tool, .asked = j->is_asked,
            .adopted = j->is_adopted, .words = { l.words, count_args(p) },
            .argcs = { l.argcs, p->napps }, .placement = { l.placement, JOB_MAP_WORDS },
            .bound = { l.bound, l.nbound }, .places = { l.places, l.nbound },
            .parent_rank = j->parent_rank, .stops = { l.stops, l.nstops },
            .breakpoint = slice_str(p->breakpoint ? p->breakpoint : ""),
            .target = slice_str(p->target ? p->target : ""), .psets = { l.psets, p->napps },
            .session = j->session, .ways = p->ways, .foreign = j->is_foreign,
            .restarts = { l.restarts, l.restarts_some ? p->napps : 0 }, .epoch = j->epoch);
    }
    free_lists(&l);
    free(runs);
}

struct job *server_job_order(struct server *s, const struct job_order *o)
{
    struct job *j = core_job_order(&s->core, o);

    if (j && s->recorder)
        record_job(s, j);
    return j;
}
