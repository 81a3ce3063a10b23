/* node_part.c - see node_part.h. */
#include "server/node_part.h"

#include <stdlib.h>
#include <string.h>

#include "core/reservation.h"
#include "core/usage.h"
#include "server/net_vendors.h"
#include "server/pmix.h"
#include "server/pmix_group_list.h"
#include "server/pmix_query_jobs.h"
#include "server/pmix_value.h"
#include "server/server.h"
#include "wire/pmix_message.h"

/* ---- this node ---- */

/* Its name in the plans of jobs, which is the one that clients know. */
static const char *name_of_node(const struct server *s, const struct machine *m)
{
    LIST_EACH(l, &s->core.jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (!j->is_tool && j->here < j->plan.nnodes)
            return j->plan.nodes[j->here].name;
        if (!j->is_tool && j->here == JOB_ALL_HERE && j->plan.nnodes)
            return j->plan.nodes[0].name;
    }
    return m->name ? m->name : "";
}

static double megabytes(uint64_t bytes)
{
    return (double)bytes / 1e6;
}

static pmix_value_t time_value(int64_t seconds)
{
    return (pmix_value_t){ .type = PMIX_TIME, .data.time = (time_t)seconds };
}

/* ---- processes ---- */

static void add_table(struct info_array *l, const struct job *j)
{
    pmix_proc_info_t *table = calloc(j->plan.nprocs + (size_t)1, sizeof *table);
    size_t n = 0;

    for (uint32_t r = 0; table && r < j->plan.nprocs; r++) {
        if (job_rank_is_here(j, r))
            pmix_describe_proc(&table[n++], j, r);
    }
    info_array_items(l, NODE_PART_OF_PROCS, PMIX_PROC_INFO, table, n);
}

static void describe_usage(struct info_array *l, const struct proc_usage *u)
{
    struct timeval cpu = { .tv_sec = (time_t)(u->cpu_us / 1000000),
                           .tv_usec = (suseconds_t)(u->cpu_us % 1000000) };

    info_array_text(l, PMIX_PROC_OS_STATE, u->state);
    info_array_add(l, PMIX_PROC_TIME, (pmix_value_t){ .type = PMIX_TIMEVAL, .data.tv = cpu });
    info_array_float(l, PMIX_PROC_PERCENT_CPU, (double)u->percent_cpu);
    info_array_add(l, PMIX_PROC_PRIORITY,
                   (pmix_value_t){ .type = PMIX_INT32, .data.int32 = u->priority });
    info_array_add(l, PMIX_PROC_NUM_THREADS,
                   (pmix_value_t){ .type = PMIX_UINT16, .data.uint16 = u->threads });
    info_array_add(l, PMIX_PROC_CPU, (pmix_value_t){ .type = PMIX_UINT16, .data.uint16 = u->cpu });
    info_array_float(l, PMIX_PROC_VSIZE, megabytes(u->vsize));
    info_array_float(l, PMIX_PROC_PEAK_VSIZE, megabytes(u->peak_vsize));
    info_array_float(l, PMIX_PROC_RSS, megabytes(u->rss));
    info_array_float(l, NODE_PART_UNSHARED, megabytes(u->unshared));
    info_array_add(l, PMIX_PROC_SAMPLE_TIME, time_value(u->time_s));
}

static void add_usage(struct info_array *l, const struct job *j, uint32_t rank,
                      const struct machine *m)
{
    const struct proc *p = &j->procs[rank];
    struct info_array one = { .items = NULL };
    struct proc_usage u;

    if (!job_rank_is_here(j, rank) || p->pid <= 0 || p->state == PROC_STATE_GONE ||
        m->proc(p->pid, &u) < 0)
        return;
    info_array_proc(&one, PMIX_PROCID, j->nspace, rank);
    info_array_text(&one, PMIX_HOSTNAME, j->plan.nodes[j->plan.procs[rank].node].name);
    info_array_add(&one, PMIX_PROC_PID, (pmix_value_t){ .type = PMIX_PID, .data.pid = p->pid });
    describe_usage(&one, &u);
    info_array_infos(l, NODE_PART_OF_PROC, &one);
}

static void add_procs(struct info_array *l, const struct server *s, uint32_t parts,
                      const struct machine *m)
{
    LIST_EACH(at, &s->core.jobs)
    {
        const struct job *j = LIST_OF(at, struct job, link);
        if (j->is_tool)
            continue;
        if (parts & NODE_PART_PROCS)
            add_table(l, j);
        for (uint32_t r = 0; parts & NODE_PART_USAGE && r < j->plan.nprocs; r++)
            add_usage(l, j, r, m);
    }
}

/* ---- the node, and its storage ---- */

static void add_node(struct info_array *l, const struct server *s, const struct machine *m)
{
    struct info_array one = { .items = NULL };
    struct node_usage u;

    if (m->node(&u) < 0)
        return;
    info_array_text(&one, PMIX_HOSTNAME, name_of_node(s, m));
    info_array_float(&one, PMIX_DAEMON_MEMORY, megabytes(u.daemon));
    info_array_float(&one, PMIX_NODE_LOAD_AVG, (double)u.load_1);
    info_array_float(&one, PMIX_NODE_LOAD_AVG5, (double)u.load_5);
    info_array_float(&one, PMIX_NODE_LOAD_AVG15, (double)u.load_15);
    info_array_float(&one, PMIX_NODE_MEM_TOTAL, megabytes(u.mem_total));
    info_array_float(&one, PMIX_NODE_MEM_FREE, megabytes(u.mem_free));
    info_array_float(&one, PMIX_NODE_MEM_BUFFERS, megabytes(u.mem_buffers));
    info_array_float(&one, PMIX_NODE_MEM_CACHED, megabytes(u.mem_cached));
    info_array_float(&one, PMIX_NODE_MEM_MAPPED, megabytes(u.mem_mapped));
    info_array_float(&one, PMIX_NODE_MEM_SWAP_CACHED, megabytes(u.swap_cached));
    info_array_float(&one, PMIX_NODE_SWAP_TOTAL, megabytes(u.swap_total));
    info_array_float(&one, PMIX_NODE_MEM_SWAP_FREE, megabytes(u.swap_free));
    info_array_add(&one, PMIX_NODE_SAMPLE_TIME, time_value(u.time_s));
    info_array_infos(l, NODE_PART_OF_NODE, &one);
}

/* Where the storage, or the devices, of a node are listed. */
struct node_list {
    struct info_array *list;
    const char *node;
};

/* Storage that nodes share has one name on all of them. */
static void name_storage(struct info_array *one, const char *node, const struct storage_usage *u)
{
    struct buf id = BUF_NULL(1 << 16);
    const char *text;

    if (u->is_shared)
        buf_str(&id, u->source);
    else
        buf_printf(&id, "%s:%s", node, u->path);
    text = buf_cstr(&id);
    if (text)
        info_array_text(one, PMIX_STORAGE_ID, text);
    else
        one->no_memory = true;
    buf_free(&id);
}

static void add_numbers(struct info_array *l, const struct storage_usage *u)
{
    const struct {
        const char *key;
        double value;
    } doubles[] = { { PMIX_STORAGE_CAPACITY_USED, (double)u->used },
                    { PMIX_STORAGE_MINIMAL_XFER_SIZE, (double)u->fragment },
                    { PMIX_STORAGE_SUGGESTED_XFER_SIZE, (double)u->block } };

    info_array_u64(l, PMIX_STORAGE_CAPACITY_LIMIT, u->capacity);
    info_array_u64(l, PMIX_STORAGE_OBJECT_LIMIT, u->objects);
    info_array_u64(l, PMIX_STORAGE_OBJECTS_USED, u->objects_used);
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        info_array_add(l, doubles[i].key,
                       (pmix_value_t){ .type = PMIX_DOUBLE, .data.dval = doubles[i].value });
}

/* Lists of them are separated by commas. */
static void add_storage(void *arg, const struct storage_usage *u)
{
    const struct node_list *all = arg;
    struct info_array one = { .items = NULL };

    if (strchr(u->path, ',') || strchr(u->source, ','))
        return;
    name_storage(&one, all->node, u);
    info_array_text(&one, PMIX_HOSTNAME, all->node);
    info_array_text(&one, PMIX_STORAGE_PATH, u->path);
    info_array_text(&one, PMIX_STORAGE_TYPE, u->type);
    if (*u->version)
        info_array_text(&one, PMIX_STORAGE_VERSION, u->version);
    info_array_add(&one, PMIX_STORAGE_ACCESSIBILITY,
                   (pmix_value_t){ .type = PMIX_STOR_ACCESS,
                                   .data.uint64 = u->is_shared ? PMIX_STORAGE_ACCESSIBILITY_CLUSTER
                                                               : PMIX_STORAGE_ACCESSIBILITY_NODE });
    info_array_add(&one, PMIX_STORAGE_MEDIUM,
                   (pmix_value_t){ .type = PMIX_STOR_MEDIUM,
                                   .data.uint64 = u->in_memory ? PMIX_STORAGE_MEDIUM_RAM
                                                               : PMIX_STORAGE_MEDIUM_UNKNOWN });
    info_array_add(&one, PMIX_STORAGE_ACCESS_TYPE,
                   (pmix_value_t){ .type = PMIX_STOR_ACCESS_TYPE,
                                   .data.uint16 = u->is_read_only ? PMIX_STORAGE_ACCESS_RD
                                                                  : PMIX_STORAGE_ACCESS_RDWR });
    if (u->in_memory) /* how long a site keeps what is on its disks, a node does not show */
        info_array_add(&one, PMIX_STORAGE_PERSISTENCE,
                       (pmix_value_t){ .type = PMIX_STOR_PERSIST,
                                       .data.uint64 = PMIX_STORAGE_PERSISTENCE_NODE });
    if (u->is_measured)
        add_numbers(&one, u);
    info_array_infos(all->list, NODE_PART_OF_STORAGE, &one);
}

/* ---- network devices, and hardware ---- */

static void add_known(struct info_array *l, const char *key, const char *text)
{
    if (*text)
        info_array_text(l, key, text);
}

static void add_size(struct info_array *l, const char *key, uint64_t size)
{
    if (size)
        info_array_add(l, key, (pmix_value_t){ .type = PMIX_SIZE, .data.size = size });
}

static void add_device(void *arg, const struct net_device *d)
{
    static const pmix_link_state_t links[] = { [NET_LINK_UNKNOWN] = PMIX_LINK_STATE_UNKNOWN,
                                               [NET_LINK_DOWN] = PMIX_LINK_DOWN,
                                               [NET_LINK_UP] = PMIX_LINK_UP };
    const struct node_list *all = arg;
    struct info_array one = { .items = NULL };

    info_array_text(&one, PMIX_HOSTNAME, all->node);
    info_array_text(&one, PMIX_FABRIC_DEVICE_NAME, d->name);
    add_known(&one, PMIX_FABRIC_DEVICE_TYPE, d->type);
    add_known(&one, PMIX_FABRIC_DEVICE_BUS_TYPE, d->bus);
    add_known(&one, PMIX_FABRIC_DEVICE_PCI_DEVID, d->pci);
    add_known(&one, PMIX_FABRIC_DEVICE_VENDORID, d->vendor);
    add_known(&one, PMIX_FABRIC_DEVICE_VENDOR, net_vendor_name(d->vendor));
    add_known(&one, PMIX_FABRIC_DEVICE_DRIVER, d->driver);
    add_known(&one, PMIX_FABRIC_DEVICE_FIRMWARE, d->firmware);
    add_known(&one, PMIX_FABRIC_DEVICE_ADDRESS, d->address);
    if (d->index)
        info_array_u32(&one, PMIX_FABRIC_DEVICE_INDEX, d->index);
    add_size(&one, PMIX_FABRIC_DEVICE_MTU, d->mtu);
    add_size(&one, PMIX_FABRIC_DEVICE_SPEED, d->speed);
    info_array_add(&one, PMIX_FABRIC_DEVICE_STATE,
                   (pmix_value_t){ .type = PMIX_LINK_STATE, .data.linkstate = links[d->link] });
    info_array_infos(all->list, NODE_PART_OF_DEVICE, &one);
}

static void add_old_form(struct info_array *one, const struct machine *m)
{
    char *text = m->topology_v1 ? m->topology_v1(m->topology_arg) : NULL;

    if (text)
        info_array_text(one, PMIX_HWLOC_XML_V1, text);
    free(text);
}

static void add_topology(struct info_array *l, const struct server *s, uint32_t parts,
                         const struct machine *m)
{
    struct info_array one = { .items = NULL };
    struct slice xml = m->topology(m->topology_arg);
    char *text = xml.len ? strndup(xml.ptr, xml.len) : NULL;

    if (!text)
        return;
    info_array_text(&one, PMIX_HOSTNAME, name_of_node(s, m));
    info_array_text(&one, PMIX_HWLOC_XML_V2, text);
    if (parts & NODE_PART_TOPOLOGY_V1)
        add_old_form(&one, m);
    info_array_infos(l, NODE_PART_OF_HARDWARE, &one);
    free(text);
}

/* ---- groups ---- */

static void add_group(void *arg, const struct pmix_group *g)
{
    struct info_array one = { .items = NULL };
    pmix_proc_t *members = calloc(g->nprocs + 1, sizeof *members);

    if (members)
        memcpy(members, g->procs, g->nprocs * sizeof *members);
    info_array_text(&one, PMIX_GROUP_ID, g->id);
    info_array_items(&one, PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_PROC, members, g->nprocs);
    info_array_infos(arg, NODE_PART_OF_GROUP, &one);
}

static void add_groups(struct info_array *l, const struct server *s)
{
    LIST_EACH(at, &s->peers)
    {
        const struct peer *p = LIST_OF(at, struct peer, link);
        if (p->session && p->session->ops == &pmix_ops)
            pmix_each_group(pmix_session_of(p->session), add_group, l);
    }
}

/* ---- as bytes ---- */

static void write_infos(struct info_array *l, struct buf *out)
{
    struct ppack w;

    ppack_init(&w, out, &ptype_own);
    pmsg_write_infos(
        &w, 0, &(struct pmsg_infos){ .has = PMSG_BIT(infos, infos), .infos = { l->n, l->items } });
    if (!ppack_ok(&w) || l->no_memory)
        out->error = BUF_NO_MEMORY;
    info_array_free(l);
}

void node_part_write(const struct server *s, uint32_t parts, const struct machine *m,
                     struct buf *out)
{
    struct info_array l = { .items = NULL };
    struct node_list here = { &l, name_of_node(s, m) };

    add_procs(&l, s, parts, m);
    if (parts & NODE_PART_NODE)
        add_node(&l, s, m);
    if (parts & NODE_PART_STORAGE)
        m->storages(add_storage, &here);
    if (parts & NODE_PART_DEVICES)
        m->devices(add_device, &here);
    if (parts & NODE_PART_TOPOLOGY)
        add_topology(&l, s, parts, m);
    if (parts & NODE_PART_GROUPS)
        add_groups(&l, s);
    write_infos(&l, out);
}

/* ---- the launcher's allocations ---- */

static void add_allocation(struct info_array *l, const struct server *s,
                           const struct reservations *r, const struct reservation *of,
                           uint64_t now_ns)
{
    const struct job *owner = core_job(&s->core, of->owner);
    struct info_array one = { .items = NULL };
    struct buf names = BUF_NULL(1 << 24);
    uint32_t nnodes = reservation_list(r, of, &names);

    info_array_text(&one, PMIX_ALLOC_ID, of->id);
    info_array_u32(&one, PMIX_SESSION_ID, of->number);
    if (of->req_id)
        info_array_text(&one, PMIX_ALLOC_REQ_ID, of->req_id);
    if (owner)
        info_array_text(&one, PMIX_NSPACE, owner->nspace);
    info_array_text(&one, PMIX_ALLOC_NODE_LIST, buf_cstr(&names) ? buf_cstr(&names) : "");
    info_array_u64(&one, PMIX_ALLOC_NUM_NODES, nnodes);
    if (of->deadline_ns != UINT64_MAX)
        info_array_u32(&one, PMIX_TIME_REMAINING, reservation_seconds(of, now_ns));
    info_array_infos(l, NODE_PART_OF_ALLOCATION, &one);
    buf_free(&names);
}

void node_part_write_allocations(const struct server *s, const struct reservations *r,
                                 uint64_t now_ns, struct buf *out)
{
    struct info_array l = { .items = NULL };

    if (!r->nodes)
        return;
    LIST_EACH(at, &r->all)
    add_allocation(&l, s, r, LIST_OF(at, struct reservation, link), now_ns);
    write_infos(&l, out);
}

void node_part_write_members(const struct node_part_member *all, uint32_t n, struct buf *out)
{
    struct info_array l = { .items = NULL };

    for (uint32_t i = 0; i < n; i++) {
        struct info_array one = { .items = NULL };
        info_array_text(&one, PMIX_HOSTNAME, all[i].name);
        info_array_u32(&one, PMIX_NUM_SLOTS, all[i].slots);
        info_array_u32(&one, PMIX_QUERY_AVAILABLE_SLOTS, all[i].free);
        info_array_infos(&l, NODE_PART_OF_MEMBER, &one);
    }
    write_infos(&l, out);
}

/* ---- queues ---- */

void node_part_write_queues(struct slice lines, struct buf *out)
{
    struct info_array l = { .items = NULL };

    while (lines.len) {
        struct slice state = slice_trim(slice_cut(&lines, '\n')), name = slice_cut(&state, ' ');
        struct info_array one = { .items = NULL };
        if (!name.len || !state.len)
            continue;
        info_array_slice(&one, PMIX_ALLOC_QUEUE, name);
        info_array_slice(&one, PMIX_QUERY_QUEUE_STATUS, slice_trim(state));
        l.no_memory = l.no_memory || one.no_memory;
        info_array_infos(&l, NODE_PART_OF_QUEUE, &one);
    }
    write_infos(&l, out);
}
