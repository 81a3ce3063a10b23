/* colocate.c - see colocate.h. */
#include "daemon/colocate.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limit.h"

enum { HOSTS_MAX = 1 << 24 };

/* Counts the named processes on each node of their job.  False: there is no such rank. */
static bool count_procs(const struct job *j, struct slice ranks, uint32_t *count)
{
    if (slice_is(ranks, "all")) {
        for (uint32_t n = 0; n < j->plan.nnodes; n++)
            count[n] = j->plan.nodes[n].nprocs;
        return true;
    }
    while (ranks.len) {
        uint32_t rank;
        if (!slice_u32(slice_cut(&ranks, ','), &rank) || rank >= j->plan.nprocs)
            return false;
        count[j->plan.procs[rank].node]++;
    }
    return true;
}

/* "a:2,b:1"; the sum goes to *n_p. */
static void write_hosts(const struct job *j, const uint32_t *count, uint32_t per_node,
                        uint32_t per_proc, struct buf *out, uint64_t *n_p)
{
    *n_p = 0;
    for (uint32_t n = 0; n < j->plan.nnodes; n++) {
        uint64_t here = per_proc ? (uint64_t)per_proc * count[n] : per_node;
        if (!count[n])
            continue;
        buf_printf(out, "%s%s:%llu", buf_len(out) ? "," : "", j->plan.nodes[n].name,
                   (unsigned long long)here);
        *n_p += here;
    }
}

static bool names_hosts(const struct spawn_command *c)
{
    static const char *const keys[] = { "host",     "hosts",        "add-host", "add-hosts",
                                        "hostfile", "add-hostfile", "ppr",      "map-by" };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (spawn_info(c, keys[i]).len)
            return true;
    }
    return false;
}

static int add_hosts(struct arena *a, struct spawn_command *c, struct slice hosts, uint64_t n)
{
    struct spawn_pair *infos = arena_array(a, c->ninfos + (size_t)1, sizeof *infos);

    if (infos && c->ninfos)
        memcpy(infos, c->infos, c->ninfos * sizeof *infos);
    if (infos)
        infos[c->ninfos++] = (struct spawn_pair){ SLICE("host"), arena_copy(a, hosts) };
    c->infos = infos;
    c->nprocs = (uint32_t)n;
    return arena_ok(a) ? 0 : SPAWN_NO_RESOURCES;
}

static int number(const struct spawn_command *c, const char *key, uint32_t *n_p, struct errmsg *err)
{
    struct slice text = spawn_info(c, key);

    *n_p = 0;
    if (text.len && (!slice_u32(text, n_p) || !*n_p))
        return errmsg_set(err, SPAWN_BAD_REQUEST, "%s must be at least 1", key);
    return 0;
}

static int place_by(const struct job *j, struct slice ranks, struct arena *a,
                    struct spawn_command *c, struct errmsg *err)
{
    uint32_t *count = calloc(j->plan.nnodes + (size_t)1, sizeof *count), per_node, per_proc;
    struct buf hosts = BUF_NULL(HOSTS_MAX);
    uint64_t n = 0;
    int rc = number(c, SPAWN_PER_NODE, &per_node, err);

    if (rc == 0)
        rc = number(c, SPAWN_PER_PROC, &per_proc, err);
    if (rc == 0 && per_node && per_proc)
        rc = errmsg_set(err, SPAWN_BAD_REQUEST, "use either " SPAWN_PER_NODE " or " SPAWN_PER_PROC);
    if (rc == 0 && count && !count_procs(j, ranks, count))
        rc =
            errmsg_set(err, SPAWN_BAD_REQUEST, SPAWN_COLOCATE ": job %.200s has no rank " SLICE_FMT,
                       j->nspace, SLICE_ARG(slice_head(ranks, 40)));
    if (rc == 0 && count)
        write_hosts(j, count, per_node ? per_node : 1, per_proc, &hosts, &n);
    if (rc == 0 && (!count || !buf_cstr(&hosts) || !n || n > LIMIT_JOB_PROCS))
        rc = errmsg_set(err, SPAWN_NO_RESOURCES, "too many processes in one spawn request");
    if (rc == 0)
        rc = add_hosts(a, c, buf_slice(&hosts), n);
    buf_free(&hosts);
    free(count);
    return rc;
}

int colocate(const struct core *c, struct spawn_request *rq, struct errmsg *err)
{
    int rc = 0;

    for (uint32_t i = 0; i < rq->ncommands && rc == 0; i++) {
        struct spawn_command *cmd = &rq->commands[i];
        struct slice nspace = spawn_info(cmd, SPAWN_COLOCATE), ranks = slice_cut(&nspace, ':');
        const struct job *j = nspace.len ? core_job_named(c, nspace) : NULL;
        if (!ranks.len)
            continue;
        if (!j || j->is_tool)
            rc = errmsg_set(err, SPAWN_BAD_REQUEST, SPAWN_COLOCATE ": there is no job " SLICE_FMT,
                            SLICE_ARG(slice_head(nspace, 200)));
        else if (names_hosts(cmd))
            rc = errmsg_set(err, SPAWN_BAD_REQUEST,
                            SPAWN_COLOCATE ": other processes choose the nodes, hosts cannot");
        else
            rc = place_by(j, ranks, &rq->arena, cmd, err);
    }
    return rc;
}
