/* output_format.c - see output_format.h. */
#include "daemon/output_format.h"

#include <string.h>

static void fill_one(struct buf *out, char what, const struct job *job, uint32_t rank,
                     uint64_t seconds)
{
    const struct job_map_proc *p = &job->plan.procs[rank];

    switch (what) {
    case 'r': buf_u64(out, rank); break;
    case 'g': buf_u64(out, job->id); break;
    case 'n': buf_str(out, job->nspace); break;
    case 'h': buf_str(out, job->plan.nodes[p->node].name); break;
    case 'p': buf_u64(out, p->node); break;
    case 'l': buf_u64(out, p->local_rank); break;
    case 'i': buf_i64(out, job->procs ? job->procs[rank].pid : 0); break;
    case 't': buf_u64(out, seconds); break;
    case '%': buf_byte(out, '%'); break;
    default:
        buf_byte(out, '%');
        buf_byte(out, what);
        break;
    }
}

void output_format_fill(const char *pattern, const struct job *job, uint32_t rank, uint64_t seconds,
                        struct buf *out)
{
    for (const char *c = pattern; *c; c++) {
        if (*c == '%' && c[1])
            fill_one(out, *++c, job, rank, seconds);
        else
            buf_byte(out, *c);
    }
}

bool output_format_ticks(const char *pattern)
{
    return strstr(pattern, "%t") != NULL;
}
