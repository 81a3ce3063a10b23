/* store_find.h - the look-up itself (store_read.h has it as a function), for a caller that makes
 * thousands of them and for which the cost of a call matters.
 *
 * Two rules keep it safe: a field is loaded into a local variable exactly once (an attacker may
 * change it between two loads), and nothing is accessed before seg_inside() has checked that it
 * lies in the mapping and in the published size.
 */
#ifndef WIREUP_STORE_STORE_FIND_H
#define WIREUP_STORE_STORE_FIND_H

#include <stddef.h>

#include "store/store_read.h"

#define SEG_LOAD(field)    __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define SEG_ACQUIRE(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)

static inline const struct seg_header *seg_header(const struct seg_view *v)
{
    return (const struct seg_header *)(const void *)v->base;
}

/* The size is read anew each time: the reference may point into a part that grew a moment ago. */
static inline bool seg_inside(const struct seg_view *v, uint64_t offset, uint64_t len)
{
    uint64_t size = SEG_ACQUIRE(seg_header(v)->size);

    if (size > v->len)
        size = v->len;
    return offset >= sizeof(struct seg_header) && offset <= size && len <= size - offset;
}

static inline const struct seg_record *seg_record_at(const struct seg_view *v, uint64_t offset)
{
    if ((offset & 7) || !seg_inside(v, offset, sizeof(struct seg_record)))
        return NULL;
    return (const struct seg_record *)(const void *)(v->base + offset);
}

/* Takes a record apart; false when it does not lie in the mapping as a whole. */
static inline bool seg_open_record(const struct seg_view *v, uint64_t offset,
                                   struct seg_item *item_p)
{
    const struct seg_record *r = seg_record_at(v, offset);
    uint32_t value_len, quals_len;
    uint16_t key_len;

    if (!r)
        return false;
    value_len = SEG_LOAD(r->value_len);
    quals_len = SEG_LOAD(r->quals_len);
    key_len = SEG_LOAD(r->key_len);
    if (!seg_inside(v, offset + sizeof *r, (uint64_t)value_len + quals_len + key_len))
        return false;
    item_p->rank = SEG_LOAD(r->rank);
    item_p->type = SEG_LOAD(r->type);
    item_p->scope = SEG_LOAD(r->scope);
    item_p->flags = SEG_LOAD(r->flags);
    item_p->value = slice_mem(r->bytes, value_len);
    item_p->quals = slice_mem(r->bytes + value_len, quals_len);
    item_p->key = slice_mem(r->bytes + value_len + quals_len, key_len);
    return true;
}

/* The bucket array in use, or NULL; *cap_p is a power of two, and all its slots are inside. */
static inline const struct seg_index *seg_open_index(const struct seg_view *v, uint64_t *cap_p)
{
    uint64_t offset = SEG_ACQUIRE(seg_header(v)->index), cap;
    const struct seg_index *x;

    if ((offset & 7) || !seg_inside(v, offset, sizeof *x))
        return NULL;
    x = (const struct seg_index *)(const void *)(v->base + offset);
    cap = SEG_LOAD(x->cap);
    if (cap == 0 || (cap & (cap - 1)) || cap > v->len / sizeof x->slot[0] ||
        !seg_inside(v, offset + sizeof *x, cap * sizeof x->slot[0]))
        return NULL;
    *cap_p = cap;
    return x;
}

static inline bool seg_look_up(const struct seg_view *v, uint32_t rank, struct slice key,
                               struct seg_item *item_p)
{
    uint64_t hash, cap, want, slot;
    const struct seg_index *x;

    if (!v->base || !(x = seg_open_index(v, &cap)))
        return false;
    hash = seg_hash(SEG_LOAD(seg_header(v)->seed), rank, key);
    want = SEG_SLOT_TAG(hash) | (rank == SEG_ANY_RANK ? SEG_SLOT_ANY : 0);
    for (uint64_t i = 0; i < cap; i++) {
        slot = SEG_ACQUIRE(x->slot[(hash + i) & (cap - 1)]);
        if (slot == 0)
            return false;
        if (!SEG_SLOT_IS(slot, want) || !seg_open_record(v, (slot & SEG_SLOT_OFFSET) << 3, item_p))
            continue;
        if ((rank == SEG_ANY_RANK || item_p->rank == rank) && slice_eq(item_p->key, key))
            return true;
    }
    return false;
}

#endif
