/* job_map.c - see job_map.h. */
#include "core/job_map.h"

#include <stdlib.h>
#include <string.h>

/* A million ranks with maps and environments stay far below; a runaway plan does not. */
#define JOB_MAP_ARENA_MAX ((size_t)1 << 30)

void job_map_init(struct job_map *p)
{
    memset(p, 0, sizeof *p);
    arena_init(&p->arena, JOB_MAP_ARENA_MAX);
    p->universe = -1;
    p->nplacements = 1;
}

void job_map_free(struct job_map *p)
{
    arena_free(&p->arena);
    job_map_init(p);
}

uint32_t *job_map_seats(const struct job_map *p)
{
    uint32_t *seats = calloc((size_t)p->nprocs + 1, sizeof *seats);
    uint32_t *used = calloc((size_t)p->nnodes * p->nplacements + 1, sizeof *used);

    for (uint32_t r = 0; r < p->nprocs && seats && used; r++) {
        const struct job_map_proc *q = &p->procs[r];
        seats[r] = used[(size_t)q->node * p->nplacements + p->apps[q->app].placement]++;
    }
    if (!used) {
        free(seats);
        seats = NULL;
    }
    free(used);
    return seats;
}
