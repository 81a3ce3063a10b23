/* job_load.c - see job_load.h. */
#include "daemon/job_load.h"

#include "daemon/cluster_io.h"
#include "daemon/local_job.h"

/* A job of which the map knows nothing is here. */
static void add_job(const struct cluster_io *s, const struct job *j, uint32_t *used)
{
    struct part_uints at = node_map_positions(&s->dispatch.map, j->id);

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        uint32_t node = j->plan.procs[r].node;
        if (j->procs[r].state != PROC_STATE_GONE)
            used[node < at.n ? at.items[node] : 0]++;
    }
}

void job_load_add(const struct cluster_io *s, uint32_t *used)
{
    LIST_EACH(l, &s->jobs->all)
    {
        const struct job *j = LIST_OF(l, struct local_job, link)->job;
        if (!j->is_tool && !j->follows && j->phase != JOB_ENDED)
            add_job(s, j, used);
    }
}
