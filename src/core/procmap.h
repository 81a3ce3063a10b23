/* procmap.h - the text of the key PMI_process_mapping: which rank is on which node.
 *
 *   (vector,(node,count,ppn),...)   for each of `count` consecutive node numbers from `node`, `ppn`
 *                                   consecutive ranks; ranks are numbered as the blocks expand
 *
 * Written: only complete lists of such triples, without blanks, which every known reader takes
 * (short forms crash MPICH 4.0, lists that must be repeated confuse others). Read: also the short
 * forms of newer servers: a bare number n for (n,1,1), [blocks]xK for a list repeated K times,
 * blanks around tokens; and a list that ends before all ranks are placed starts again at its first
 * block on node 0 (or its first '[').
 *
 * Pure; used by servers and by client libraries.
 */
#ifndef WIREUP_CORE_PROCMAP_H
#define WIREUP_CORE_PROCMAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct job_map;

/* Writing, rank by rank or in runs.  Memory is constant; the text goes to the caller's buffer,
 * whose maximum bounds it (it is poisoned when the map is longer). */
struct procmap_writer {
    struct buf *out;
    /* The unfinished triple, and the run of equal nodes after it. */
    uint32_t node, count, ppn;
    uint32_t run_node, run_len;
};

void procmap_begin(struct procmap_writer *w, struct buf *out);
void procmap_put(struct procmap_writer *w, uint32_t node, uint32_t nranks);
void procmap_end(struct procmap_writer *w);

/* The whole map of a plan. */
void procmap_of_plan(const struct job_map *p, struct buf *out);

enum {
    PROCMAP_BAD = 1, /* not a map; the sentence says where */
    PROCMAP_SHORT,   /* too few ranks, and no block on node 0 to start again from */
};

/* The node of each of nprocs ranks.  0, or PROCMAP_... (node_of is undefined then). Takes no
 * memory; the time grows with the ranks placed and the text, not with numbers in it. */
int procmap_read(struct slice text, uint32_t nprocs, uint32_t *node_of, struct errmsg *err);

#endif
