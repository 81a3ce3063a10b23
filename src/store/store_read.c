/* store_read.c - see store_read.h; the rules that keep it safe are those of store_find.h. */
#include "store/store_read.h"

#include "store/store_find.h"

int seg_open(const void *base, uint64_t map_len, struct seg_view *view_p)
{
    const struct seg_header *h = base;

    *view_p = SEG_VIEW_NULL;
    if (!base || map_len < sizeof *h || ((uintptr_t)base & 7))
        return SEG_FOREIGN;
    if (SEG_LOAD(h->magic) != SEG_MAGIC || SEG_LOAD(h->version) != SEG_VERSION ||
        SEG_LOAD(h->header_bytes) < sizeof *h)
        return SEG_FOREIGN;
    *view_p = (struct seg_view){ base, map_len };
    return 0;
}

bool seg_find(const struct seg_view *v, uint32_t rank, struct slice key, struct seg_item *item_p)
{
    return seg_look_up(v, rank, key, item_p);
}

bool seg_get(const struct seg_view *v, uint32_t rank, struct slice key, struct slice *value_p)
{
    struct seg_item item;

    if (!seg_find(v, rank, key, &item))
        return false;
    *value_p = item.value;
    return true;
}

bool seg_next(const struct seg_view *v, uint64_t *cursor, struct seg_item *item_p)
{
    const struct seg_record *r;
    struct seg_item listed;
    uint64_t next;

    if (!v->base)
        return false;
    if (*cursor == 0) {
        next = SEG_ACQUIRE(seg_header(v)->first);
    } else {
        r = seg_record_at(v, *cursor);
        next = r ? SEG_ACQUIRE(r->next) : 0;
    }
    /* Records only ever refer forward: a list that was closed into a ring ends here. */
    if (next <= *cursor || !seg_open_record(v, next, &listed))
        return false;
    *cursor = next;
    /* The list holds the record of the first put; a later one may have replaced it. */
    if (!seg_find(v, SEG_ANY_RANK, listed.key, item_p))
        *item_p = listed;
    return true;
}

uint64_t seg_generation(const struct seg_view *v)
{
    return v->base ? SEG_ACQUIRE(seg_header(v)->generation) : 0;
}

uint64_t seg_entries(const struct seg_view *v)
{
    return v->base ? SEG_ACQUIRE(seg_header(v)->entries) : 0;
}
