/* node_members.c - see node_members.h. */
#include "daemon/node_members.h"

#include <stdlib.h>

#include "base/arena.h"
#include "daemon/cluster_io.h"
#include "daemon/dvm_leases.h"
#include "daemon/job_load.h"
#include "daemon/local_job.h"
#include "daemon/node_context.h"
#include "server/node_part.h"

enum { NODE_MEMBERS_ARENA = 64 << 20 };

/* A node that is kept for lost ones has no slots to offer before it takes a place. */
static bool is_spare(const struct cluster_io *s, uint32_t position)
{
    LIST_EACH(l, &s->jobs->all)
    {
        const struct job *j = LIST_OF(l, struct local_job, link)->job;
        if (!j->is_tool && node_map_node(&s->dispatch.map, j, position) != JOB_NONE_HERE)
            return false;
    }
    return s->context->config->replace;
}

/* Of a launcher of one job and what it spawns. */
static struct dvm_slots_node *own_nodes(const struct cluster_io *s, struct arena *a, uint32_t *n_p)
{
    uint32_t count = s->router.config.count;
    struct dvm_slots_node *by = arena_array(a, count, sizeof *by);
    uint32_t *used = arena_array(a, count, sizeof *used);

    *n_p = count;
    if (!by || !used)
        return NULL;
    job_load_add(s, used);
    for (uint32_t p = 0; p < count; p++) {
        bool up = s->names[p] && s->slots[p] && cluster_io_has(s, p) &&
                  !router_is_lost(&s->router, p) && !is_spare(s, p);
        by[p] = (struct dvm_slots_node){
            .name = s->names[p], .slots = s->slots[p], .used = used[p], .up = up, .usable = up
        };
    }
    return by;
}

void node_members_write(const struct node_context *c, struct buf *out)
{
    const struct dvm_leases *leases = c->config->dvm_leases;
    struct arena a = ARENA_NULL(NODE_MEMBERS_ARENA);
    struct node_part_member *all;
    struct dvm_slots_node *by;
    uint32_t count = 0, n = 0;

    if (!c->cluster || !c->cluster->names || !c->cluster->slots || (leases && !leases->cluster))
        return;
    by = leases ? dvm_leases_nodes(leases, &a, &count) : own_nodes(c->cluster, &a, &count);
    all = arena_array(&a, count, sizeof *all);
    for (uint32_t i = 0; by && all && i < count; i++) {
        if (by[i].up)
            all[n++] =
                (struct node_part_member){ by[i].name, by[i].slots, dvm_slots_offer(&by[i], 1) };
    }
    if (by && all)
        node_part_write_members(all, n, out);
    else
        out->error = BUF_NO_MEMORY;
    arena_free(&a);
}
