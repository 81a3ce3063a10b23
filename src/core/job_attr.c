/* job_attr.c - see job_attr.h. */
#include "core/job_attr.h"

#include "base/limit.h"
#include "core/core.h"

static const char *has_names(const struct job *j)
{
    (void)j;
    return "TRUE";
}

static const char *topology(const struct job *j)
{
    return j->plan.nnodes > 1 ? "hierarchical" : "complete";
}

/* Between the nodes, and inside each. */
static const char *levels(const struct job *j)
{
    return j->plan.nnodes > 1 ? "complete,complete" : NULL;
}

static const char *mixture(const struct job *j)
{
    return j->plan.nnodes > 1 ? NULL : "FALSE";
}

/* Other hosts decide for themselves; of processes that something else starts, nobody is told. */
static const char *signals(const struct job *j)
{
    static const char list[] = ""
#define PASSED(name)         ",SIG" #name
#define REPORT(name)         ""
#define SIGNAL(name, action) action(name)
#include "proto/signals.def"
#undef SIGNAL
#undef REPORT
#undef PASSED
        ;

    return j->core && j->core->is_manager && !j->is_adopted ? list + 1 : NULL;
}

static const struct {
    const char *name;
    const char *(*value)(const struct job *j); /* NULL: not known */
} rows[] = {
    { "PMI_signals_forwarded", signals }, { "hasNameServ", has_names },
    { "physTopology", topology },         { "physTopologyLevels", levels },
    { "phyTopologyLevels", levels },      { "isHeterogeneous", mixture },
};

enum answer_status job_attr_made(const struct job *j, struct slice key, struct slice *value_p)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *value = slice_is(key, rows[i].name) ? rows[i].value(j) : NULL;
        if (value) {
            *value_p = slice_str(value);
            return ANSWER_OK;
        }
    }
    return ANSWER_NOT_FOUND;
}

static void list_ranks(const struct job *j, uint32_t node, struct buf *out)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->plan.procs[r].node != node)
            continue;
        if (buf_len(out))
            buf_byte(out, ',');
        buf_u64(out, r);
    }
}

bool job_attr_of_node(const struct job *j, uint32_t node, struct slice key, struct buf *out)
{
    if (slice_is(key, "localRanksCount"))
        buf_u64(out, j->plan.nodes[node].nprocs);
    else if (slice_is(key, "localRanks"))
        list_ranks(j, node, out);
    return buf_ok(out) && buf_len(out) > 0 && buf_len(out) < LIMIT_PMI_VALUE;
}
