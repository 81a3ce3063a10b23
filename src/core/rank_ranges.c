/* rank_ranges.c - see rank_ranges.h. */
#include "core/rank_ranges.h"

void rank_range_put(struct buf *out, uint32_t first, uint32_t last)
{
    buf_u64(out, first);
    if (last > first) {
        buf_byte(out, '-');
        buf_u64(out, last);
    }
}

bool rank_range_cut(struct slice *list, uint32_t *first_p, uint32_t *last_p)
{
    struct slice last = slice_trim(slice_cut(list, ',')), first = slice_cut(&last, '-');

    if (!slice_u32(slice_trim(first), first_p))
        return false;
    *last_p = *first_p;
    return (last.len == 0 || slice_u32(slice_trim(last), last_p)) && *last_p >= *first_p;
}

void rank_ranges_end(struct rank_ranges *r)
{
    if (!r->begun)
        return;
    if (r->further)
        buf_byte(r->out, ',');
    rank_range_put(r->out, r->first, r->last);
    r->further = true;
    r->begun = false;
}

void rank_ranges_add(struct rank_ranges *r, uint32_t rank)
{
    if (r->begun && rank <= r->last + 1) {
        r->last = rank;
        return;
    }
    rank_ranges_end(r);
    r->first = r->last = rank;
    r->begun = true;
}
