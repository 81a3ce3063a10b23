/* proc_state.c - fuzzes the states of the processes of a job: each byte is an event of one of its
 * processes, in any order, whether it can happen or not.  However wild that is, the job has to end
 * when all processes have, exactly once, with a code that is 0 only if nothing went wrong. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/core_effect.h"
#include "core/effect.h"
#include "core/job_end.h"
#include "core/job_event.h"
#include "core/job_fence.h"
#include "store/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PROCS = 3, STORE = 1 << 16 };

static struct job *new_job(struct core *c, struct seg_region *region, bool keep_going)
{
    struct job_map p;
    struct job *j;

    job_map_init(&p);
    p.apps = arena_array(&p.arena, 1, sizeof *p.apps);
    p.nodes = arena_array(&p.arena, 1, sizeof *p.nodes);
    p.procs = arena_array(&p.arena, PROCS, sizeof *p.procs);
    if (!arena_ok(&p.arena))
        abort();
    p.napps = p.nnodes = 1;
    p.nprocs = PROCS;
    p.nodes[0] = (struct job_map_node){ "here", PROCS, PROCS };
    for (uint32_t r = 0; r < PROCS; r++)
        p.procs[r].rank = p.procs[r].local_rank = r;
    j = core_job_add(c, "life", &p, region, JOB_NO_RANK, keep_going);
    if (!j)
        abort();
    return j;
}

static unsigned ends_of(struct core *c)
{
    unsigned ends = 0;
    struct effect e;

    while (core_effect(c, &e)) {
        ends += e.kind == EFFECT_job_ended;
        effect_drop(&e);
    }
    return ends;
}

/* A fence now and then: those who die must not leave others waiting. */
static void one_event(struct job *j, uint8_t byte)
{
    uint32_t rank = byte % PROCS;
    unsigned event = byte / PROCS % (PROC_EVENTS + 1);

    if (event == PROC_EVENTS)
        job_fence(j, rank, SLICE_NULL, false, byte, 0);
    else
        job_event(j, rank, (enum proc_event)event, byte >> 5);
}

static void finish(struct job *j, uint32_t rank)
{
    struct proc *p = &j->procs[rank];

    if (p->state == PROC_STATE_PLANNED)
        job_event(j, rank, PROC_EVENT_NOT_STARTED, 1);
    else if (p->state != PROC_STATE_GONE)
        job_event(j, rank, PROC_EVENT_EXIT, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seg_region region;
    struct core core;
    struct job *j;
    unsigned ends = 0;
    bool bad = false;

    if (!region.base && seg_memory_open(STORE, &region) < 0)
        abort();
    memset(region.base, 0, STORE);
    region.size = 0;
    core_init(&core, 1);
    j = new_job(&core, &region, size && data[0] & 1);
    for (size_t i = 1; i < size && i < 500; i++) {
        one_event(j, data[i]);
        ends += ends_of(&core);
    }
    for (uint32_t r = 0; r < PROCS; r++) {
        finish(j, r);
        bad = bad || j->procs[r].code || j->procs[r].signalled;
    }
    ends += ends_of(&core);
    if (j->phase != JOB_ENDED || ends != 1 || (bad && job_exit_code(j) == 0))
        abort();
    if (job_exit_code(j) && j->reason.text[0] == '\0')
        abort();
    core_free(&core);
    return 0;
}
