/* connectivity.h - which processes of a job will talk to each other, as its user says.
 *
 *   all                 each with each, or it is not known
 *   ring                with ranks r - 1 and r + 1, around the end
 *   hypercube           with the ranks that differ from r in one bit
 *   cartesian:AxBx...   in a grid, the last dimension varying fastest, with the next one in either
 *                       direction of each dimension, around the ends
 *   sparse              with few, and nobody knows with which
 *
 * It decides what a fence brings to which node (ondemand.h).
 */
#ifndef WIREUP_CORE_CONNECTIVITY_H
#define WIREUP_CORE_CONNECTIVITY_H

#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

enum connectivity_kind {
    CONNECTIVITY_ALL,
    CONNECTIVITY_RING,
    CONNECTIVITY_HYPERCUBE,
    CONNECTIVITY_CARTESIAN,
    CONNECTIVITY_SPARSE
};

enum {
    CONNECTIVITY_DIMS = 8,
    CONNECTIVITY_NEIGHBOURS = 32 /* of one process, at most: a bit of its rank each */
};

struct connectivity {
    enum connectivity_kind kind;
    uint32_t ndims, dims[CONNECTIVITY_DIMS]; /* of a grid */
};

/* 0; 1: it is none of these, with one sentence that tells which there are. */
int connectivity_parse(struct slice text, struct connectivity *c_p, struct errmsg *err);

/* A grid has as many places as the job has processes.  0; 1, with one sentence. */
int connectivity_fits(const struct connectivity *c, uint32_t nprocs, struct errmsg *err);

/* The neighbours of a rank, each once, without itself; returns how many. */
uint32_t connectivity_neighbours(const struct connectivity *c, uint32_t nprocs, uint32_t rank,
                                 uint32_t neighbours[CONNECTIVITY_NEIGHBOURS]);

#endif
