/* dvm_limits.c - see dvm_limits.h. */
#include "daemon/dvm_limits.h"

void dvm_limits_write(const struct dvm_limits *l, struct buf *out)
{
    buf_printf(out, "%u %u %u %u", l->jobs, l->slots, l->nodes, l->seconds);
}

bool dvm_limits_read(struct slice words, struct dvm_limits *l)
{
    *l = (struct dvm_limits){ .jobs = 0 };
    return slice_u32(slice_cut(&words, ' '), &l->jobs) &&
           slice_u32(slice_cut(&words, ' '), &l->slots) &&
           slice_u32(slice_cut(&words, ' '), &l->nodes) && slice_u32(words, &l->seconds);
}

bool dvm_limits_any(const struct dvm_limits *l)
{
    return l->jobs || l->slots || l->nodes || l->seconds;
}

/* More than one is wanted, for a limit is at least one. */
static int refuse(const char *dvm, const char *what, uint64_t wanted, uint32_t most,
                  const char *option, struct errmsg *err)
{
    return errmsg_set(err, 1, "the job has %llu %s, and DVM %s allows a job %u (%s)",
                      (unsigned long long)wanted, what, dvm, most, option);
}

int dvm_limits_check(const struct dvm_limits *l, const char *dvm, uint64_t slots, uint64_t nodes,
                     struct errmsg *err)
{
    if (l->slots && slots > l->slots)
        return refuse(dvm, "processes", slots, l->slots, "-job-slots", err);
    if (l->nodes && nodes > l->nodes)
        return refuse(dvm, "nodes", nodes, l->nodes, "-job-nodes", err);
    return 0;
}
