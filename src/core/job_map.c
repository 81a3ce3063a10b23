/* job_map.c - see job_map.h. */
#include "core/job_map.h"

#include <string.h>

/* A million ranks with maps and environments stay far below; a runaway plan does not. */
#define JOB_MAP_ARENA_MAX ((size_t)1 << 30)

void job_map_init(struct job_map *p)
{
    memset(p, 0, sizeof *p);
    arena_init(&p->arena, JOB_MAP_ARENA_MAX);
    p->universe = -1;
}

void job_map_free(struct job_map *p)
{
    arena_free(&p->arena);
    job_map_init(p);
}
