/* job.c - see job.h. */
#include "core/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/modex_keys.h"
#include "core/ondemand.h"

/* A job of one node stays on that node, wherever it is. */
static bool find_mine(struct job *j, const struct job_map *p)
{
    uint32_t n = 0;

    j->spread = false;
    for (uint32_t r = 0; j->here != JOB_ALL_HERE && r < p->nprocs; r++) {
        n += p->procs[r].node == j->here;
        j->spread = j->spread || p->procs[r].node != j->here;
    }
    if (!j->spread)
        return true;
    j->mine = calloc(n + (size_t)1, sizeof *j->mine);
    for (uint32_t r = 0; j->mine && r < p->nprocs; r++) {
        if (p->procs[r].node == j->here)
            j->mine[j->nmine++] = r;
    }
    return j->mine != NULL;
}

static int make_world(struct job *j, const struct job_map *p)
{
    struct slice name = SLICE("WORLD:0");

    return j->spread ? collective_group_get_spread(&j->colls, name, j->mine, j->nmine, NULL,
                                                   p->nprocs, true, &j->world)
                     : collective_group_get(&j->colls, name, NULL, p->nprocs, true, &j->world);
}

static bool job_fill(struct job *j, const struct job_params *p)
{
    uint64_t entries = p->plan->nprocs * (uint64_t)2;

    j->nspace = strdup(p->nspace);
    j->parent_name = p->parent_name ? strdup(p->parent_name) : NULL;
    j->procs = calloc(p->plan->nprocs ? p->plan->nprocs : 1, sizeof *j->procs);
    if (!j->nspace || !j->procs || (p->parent_name && !j->parent_name))
        return false;
    if (!find_mine(j, p->plan) || make_world(j, p->plan) < 0)
        return false;
    return seg_create(&j->store, p->region, p->seed, entries) == 0;
}

static void count_stops(struct job *j)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        for (uint8_t i = 0; j->plan.procs[r].stops && i < JOB_MAP_STOPS; i++)
            j->awaited[i] += (uint32_t)(j->plan.procs[r].stops >> i) & 1;
    }
}

bool job_restarts(const struct job *j)
{
    for (uint32_t i = 0; j->keep_going && i < j->plan.napps; i++) {
        if (j->plan.apps[i].restarts)
            return true;
    }
    return false;
}

struct job *job_new(const struct job_params *p)
{
    struct job *j = calloc(1, sizeof *j);

    if (!j)
        return NULL;
    j->id = p->id;
    j->parent = p->parent;
    j->parent_rank = p->parent_rank;
    j->culprit = JOB_NO_RANK;
    j->blames = JOB_NO_RANK;
    j->region = p->region;
    j->keep_going = p->keep_going;
    j->attempts = UINT32_MAX;
    j->effects = p->effects;
    j->meetings = p->meetings;
    list_init(&j->link);
    list_init(&j->waits);
    list_init(&j->lookups);
    list_init(&j->cleanups);
    j->waits_due = UINT64_MAX;
    for (int i = 0; i < 4; i++)
        buf_init(&j->wire_info[i], 0);
    buf_init(&j->topology, LIMIT_CLIENT_STORE);
    j->base = p->base;
    j->here = p->here;
    j->follows = p->follows;
    job_map_init(&j->plan);
    collective_set_init(&j->colls, p->seed);
    map_init(&j->spaces, p->seed);
    map_init(&j->gone_spaces, p->seed);
    nodeattrs_init(&j->waiting, p->seed);
    host_info_init(&j->facts, p->seed);
    if (!job_fill(j, p))
        return job_free(j);
    j->plan = *p->plan;
    job_map_init(p->plan);
    count_stops(j);
    return ondemand_open(j) ? j : job_free(j);
}

/* The elements of these lists begin with their link, and own nothing else. */
static void free_all(struct list *all)
{
    LIST_EACH(l, all)
    {
        list_unlink(l);
        free(l);
    }
}

struct job *job_free(struct job *j)
{
    size_t at = 0;
    char *name;

    if (!j)
        return NULL;
    list_unlink(&j->link);
    while ((name = map_next(&j->spaces, &at)))
        free(name);
    map_free(&j->spaces);
    at = 0;
    while ((name = map_next(&j->gone_spaces, &at)))
        free(name);
    map_free(&j->gone_spaces);
    collective_set_free(&j->colls);
    free_all(&j->waits);
    free_all(&j->lookups);
    ondemand_free(j);
    free_all(&j->cleanups);
    for (uint32_t r = 0; j->procs && r < j->plan.nprocs; r++)
        modex_keys_free(&j->procs[r]);
    nodeattrs_free(&j->waiting);
    free(j->partners);
    free(j->mine);
    for (int i = 0; i < 4; i++)
        buf_free(&j->wire_info[i]);
    buf_free(&j->topology);
    host_info_free(&j->facts);
    job_map_free(&j->plan);
    free(j->procs);
    free(j->nspace);
    free(j->parent_name);
    free(j);
    return NULL;
}

bool proc_can_keep(const struct proc *p, size_t bytes)
{
    return bytes <= LIMIT_CLIENT_STORE &&
           p->stored + bytes + LIMIT_STORE_ENTRY <= LIMIT_CLIENT_STORE;
}

void proc_keeps(struct proc *p, size_t bytes)
{
    p->stored += bytes + LIMIT_STORE_ENTRY;
}

void proc_drops(struct proc *p, size_t bytes)
{
    uint64_t less = bytes + LIMIT_STORE_ENTRY;

    p->stored -= less < p->stored ? less : p->stored;
}
