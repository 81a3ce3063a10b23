/* plan.c - see plan.h. */
#include "core/plan.h"

#include <string.h>

/* A million ranks with maps and environments stay far below; a runaway plan does not. */
#define PLAN_ARENA_MAX ((size_t)1 << 30)

void plan_init(struct plan *p)
{
    memset(p, 0, sizeof *p);
    arena_init(&p->arena, PLAN_ARENA_MAX);
    p->universe = -1;
}

void plan_free(struct plan *p)
{
    arena_free(&p->arena);
    plan_init(p);
}
