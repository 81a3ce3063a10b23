/* rank_ranges.h - ranks as people write them: "3-5,9". */
#ifndef WIREUP_CORE_RANK_RANGES_H
#define WIREUP_CORE_RANK_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* "3-5", or "9" when both are the same. */
void rank_range_put(struct buf *out, uint32_t first, uint32_t last);

/* Cuts "3-5" or "9" off a list.  False: the list has something else, or a range that is empty. */
bool rank_range_cut(struct slice *list, uint32_t *first_p, uint32_t *last_p);

struct rank_ranges {
    struct buf *out;
    uint32_t first, last; /* not written yet */
    bool begun, further;
};

/* Ranks come in ascending order; the same one may come again. */
void rank_ranges_add(struct rank_ranges *r, uint32_t rank);
void rank_ranges_end(struct rank_ranges *r);

#endif
