/* pmix_info.c - what every process may know about a job, from its plan.
 *
 * The reply to a client's first command: KVALs of the job, one array per session, node and
 * application, and one blob per rank.  The same for all clients of one encoding, so it is packed
 * once and kept with the job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "session/pmix_priv.h"
#include "wire/pmix_ours.h"

/* One blob per rank; a key of the wire, not of the API. */
#define PROC_BLOB "pmix.pblob"

enum { INFO_ROOM = 12, INFO_MAX = 1 << 30 };

/* Values that borrow their texts: they are packed at once and never released. */
static pmix_value_t u32(uint32_t v)
{
    return (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = v };
}

static pmix_value_t u16(uint16_t v)
{
    return (pmix_value_t){ .type = PMIX_UINT16, .data.uint16 = v };
}

static pmix_value_t rank_value(uint32_t v)
{
    return (pmix_value_t){ .type = PMIX_PROC_RANK, .data.rank = v };
}

static pmix_value_t text(const char *v)
{
    return (pmix_value_t){ .type = PMIX_STRING, .data.string = (char *)(uintptr_t)v };
}

struct infos {
    pmix_info_t list[INFO_ROOM];
    size_t n;
};

static void add(struct infos *i, const char *key, pmix_value_t value)
{
    pmix_info_t *info = &i->list[i->n++];

    memset(info, 0, sizeof *info);
    strncpy(info->key, key, PMIX_MAX_KEYLEN);
    info->value = value;
}

static void put_array(struct ppack *w, const char *key, struct infos *i)
{
    pmix_data_array_t array = { .type = PMIX_INFO, .size = i->n, .array = i->list };
    pmix_value_t v = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    ppack_kval(w, key, &v);
}

static void put(struct ppack *w, const char *key, pmix_value_t v)
{
    ppack_kval(w, key, &v);
}

static uint32_t universe(const struct plan *p)
{
    return p->universe > 0 && p->universe <= UINT32_MAX ? (uint32_t)p->universe : p->nprocs;
}

static void node_list(const struct plan *p, struct buf *out)
{
    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (n)
            buf_byte(out, ',');
        buf_str(out, p->nodes[n].name);
    }
}

/* "0,2,5" for each node, in one pass over the ranks. */
static bool peer_lists(const struct plan *p, struct buf *lists)
{
    for (uint32_t n = 0; n < p->nnodes; n++)
        buf_init(&lists[n], INFO_MAX);
    for (uint32_t r = 0; r < p->nprocs; r++) {
        struct buf *list = &lists[p->procs[r].node];
        if (buf_len(list))
            buf_byte(list, ',');
        buf_u64(list, r);
    }
    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (!buf_cstr(&lists[n]))
            return false;
    }
    return true;
}

static void put_job(struct ppack *w, const struct job *j, const char *nodes)
{
    const struct plan *p = &j->plan;
    struct infos session = { .n = 0 };

    put(w, PMIX_JOBID, text(j->nspace));
    put(w, PMIX_JOB_SIZE, u32(p->nprocs));
    put(w, PMIX_MAX_PROCS, u32(p->nprocs));
    put(w, PMIX_UNIV_SIZE, u32(universe(p)));
    put(w, PMIX_JOB_NUM_APPS, u32(p->napps));
    put(w, PMIX_NUM_NODES, u32(p->nnodes));
    put(w, PMIX_NODE_LIST, text(nodes));
    put(w, PMIX_NPROC_OFFSET, rank_value(0));
    add(&session, PMIX_SESSION_ID, u32(0));
    add(&session, PMIX_UNIV_SIZE, u32(universe(p)));
    put_array(w, PMIX_SESSION_INFO_ARRAY, &session);
}

static void put_nodes(struct ppack *w, const struct plan *p, struct buf *peers)
{
    for (uint32_t n = 0; n < p->nnodes; n++) {
        struct infos i = { .n = 0 };
        add(&i, PMIX_HOSTNAME, text(p->nodes[n].name));
        add(&i, PMIX_NODEID, u32(n));
        add(&i, PMIX_LOCAL_PEERS, text(buf_cstr(&peers[n])));
        if (p->nodes[n].nprocs)
            add(&i, PMIX_LOCALLDR, rank_value((uint32_t)strtoul(buf_cstr(&peers[n]), NULL, 10)));
        add(&i, PMIX_LOCAL_SIZE, u32(p->nodes[n].nprocs));
        add(&i, PMIX_NODE_SIZE, u32(p->nodes[n].nprocs));
        put_array(w, PMIX_NODE_INFO_ARRAY, &i);
    }
}

static void put_apps(struct ppack *w, const struct plan *p)
{
    for (uint32_t a = 0; a < p->napps; a++) {
        struct infos i = { .n = 0 };
        add(&i, PMIX_APPNUM, u32(a));
        add(&i, PMIX_APP_SIZE, u32(p->apps[a].nprocs));
        add(&i, PMIX_APPLDR, rank_value(p->apps[a].first_rank));
        if (p->apps[a].wdir)
            add(&i, PMIX_WDIR, text(p->apps[a].wdir));
        put_array(w, PMIX_APP_INFO_ARRAY, &i);
    }
}

static void put_rank(struct ppack *w, const struct job *j, uint32_t rank, struct buf *blob)
{
    const struct plan_proc *p = &j->plan.procs[rank];
    struct ppack in;
    pmix_value_t v = { .type = PMIX_BYTE_OBJECT };
    pmix_proc_t parent;

    buf_clear(blob);
    ppack_init(&in, blob, w->as);
    in.described = w->described;
    ppack_u32(&in, PMIX_PROC_RANK, rank);
    put(&in, PMIX_RANK, rank_value(rank));
    put(&in, PMIX_GLOBAL_RANK, rank_value(j->base + rank));
    put(&in, PMIX_APP_RANK, rank_value(rank - j->plan.apps[p->app].first_rank));
    put(&in, PMIX_APPNUM, u32(p->app));
    put(&in, PMIX_LOCAL_RANK, u16((uint16_t)p->local_rank));
    put(&in, PMIX_NODE_RANK, u16((uint16_t)p->local_rank));
    put(&in, PMIX_HOSTNAME, text(j->plan.nodes[p->node].name));
    put(&in, PMIX_NODEID, u32(p->node));
    put(&in, PMIX_REINCARNATION, u32(0));
    if (j->parent_nspace) {
        memset(&parent, 0, sizeof parent);
        strncpy(parent.nspace, j->parent_nspace, PMIX_MAX_NSLEN);
        parent.rank = j->parent_rank;
        put(&in, PMIX_PARENT_ID, (pmix_value_t){ .type = PMIX_PROC, .data.proc = &parent });
        put(&in, PMIX_SPAWNED, (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true });
    }
    v.data.bo.bytes = (char *)(uintptr_t)buf_slice(blob).ptr;
    v.data.bo.size = buf_len(blob);
    if (!ppack_ok(&in))
        w->error = in.error;
    ppack_kval(w, PROC_BLOB, &v);
}

static void put_all(struct ppack *w, const struct job *j, struct buf *peers)
{
    struct buf nodes = BUF_NULL(INFO_MAX), blob = BUF_NULL(1 << 20);
    const char *list;

    node_list(&j->plan, &nodes);
    list = buf_cstr(&nodes);
    if (list) {
        put_job(w, j, list);
        put_nodes(w, &j->plan, peers);
        put_apps(w, &j->plan);
        for (uint32_t r = 0; r < j->plan.nprocs; r++)
            put_rank(w, j, r, &blob);
    } else {
        w->error = PTYPE_NO_MEMORY;
    }
    buf_free(&nodes);
    buf_free(&blob);
}

static void make(struct job *j, const struct ptype_flavour *as, bool described, struct buf *out)
{
    struct buf *peers = calloc(j->plan.nnodes + (size_t)1, sizeof *peers);
    struct ppack w;

    buf_init(out, INFO_MAX);
    ppack_init(&w, out, as);
    w.described = described;
    if (peers && peer_lists(&j->plan, peers))
        put_all(&w, j, peers);
    else
        w.error = PTYPE_NO_MEMORY;
    for (uint32_t n = 0; peers && n < j->plan.nnodes; n++)
        buf_free(&peers[n]);
    free(peers);
    if (!ppack_ok(&w))
        buf_free(out);
}

struct slice pmix_job_info(struct job *j, const struct ptype_flavour *as, bool described)
{
    struct buf *kept = &j->wire_info[(as->fixed ? 0 : 1) + (described ? 2 : 0)];

    if (buf_len(kept) == 0)
        make(j, as, described, kept);
    return buf_slice(kept);
}

bool pmix_tell_job_info(struct job *j)
{
    struct slice info;

    if (j->info_told)
        return true;
    info = pmix_job_info(j, ptype_flavour(SLICE("v41")), false);
    j->info_told = info.len && job_tell(j, SLICE(OURS_JOB_INFO), info) == ANSWER_OK;
    return j->info_told;
}
