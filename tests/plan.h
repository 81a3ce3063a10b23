/* plan.h - the simplest plan, for tests: one program, its ranks all on one node, "here". */
#ifndef WIREUP_TESTS_PLAN_H
#define WIREUP_TESTS_PLAN_H

#include "core/job_map.h"

/* False: no memory. */
static inline bool plan_of_one_node(struct job_map *p, uint32_t nprocs)
{
    job_map_init(p);
    p->apps = arena_array(&p->arena, 1, sizeof *p->apps);
    p->nodes = arena_array(&p->arena, 1, sizeof *p->nodes);
    p->procs = arena_array(&p->arena, nprocs, sizeof *p->procs);
    if (!arena_ok(&p->arena))
        return false;
    p->napps = p->nnodes = 1;
    p->nprocs = nprocs;
    p->apps[0].nprocs = nprocs;
    p->nodes[0] = (struct job_map_node){ .name = "here", .slots = nprocs, .nprocs = nprocs };
    for (uint32_t r = 0; r < nprocs; r++)
        p->procs[r].rank = p->procs[r].local_rank = r;
    return true;
}

#endif
