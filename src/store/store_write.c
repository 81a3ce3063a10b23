/* store_write.c - see store_write.h.  Readers rely on the order of stores: bytes first, then
 * (release) the slot, list link or header field through which they can be found. */
#include "store/store_write.h"

#include <errno.h>
#include <stdbool.h>

#include "base/limit.h"

#define STORE(field, v)   __atomic_store_n(&(field), (v), __ATOMIC_RELAXED)
#define RELEASE(field, v) __atomic_store_n(&(field), (v), __ATOMIC_RELEASE)

enum { GROW_STEP = 1 << 16, MIN_SLOTS = 64 };

static struct seg_header *header(struct seg_writer *w)
{
    return w->region->base;
}

static void *at(struct seg_writer *w, uint64_t offset)
{
    return (char *)w->region->base + offset;
}

static uint64_t aligned(uint64_t n)
{
    return (n + 7) & ~UINT64_C(7);
}

/* Makes n bytes after `used` usable, without handing them out. */
static int reserve(struct seg_writer *w, uint64_t n)
{
    struct seg_region *r = w->region;
    uint64_t need, want;
    int rc;

    if (n > r->max || w->used > r->max - n)
        return SEG_FULL;
    need = w->used + n;
    if (need > r->size) {
        /* By half of the present size, so that growing costs little per put. */
        want = r->size + r->size / 2 > need ? r->size + r->size / 2 : need;
        want = (want + GROW_STEP - 1) / GROW_STEP * GROW_STEP;
        rc = r->grow(r, want < r->max ? want : r->max, r->arg);
        if (rc < 0)
            return rc;
    }
    if (header(w)->size != r->size)
        RELEASE(header(w)->size, r->size);
    return 0;
}

static uint64_t take(struct seg_writer *w, uint64_t n)
{
    uint64_t offset = w->used;

    w->used += n;
    return offset;
}

static uint64_t index_bytes(uint64_t cap)
{
    return sizeof(struct seg_index) + cap * sizeof(uint64_t);
}

int seg_create(struct seg_writer *w, struct seg_region *r, uint64_t seed, uint64_t expect)
{
    uint64_t cap = MIN_SLOTS;
    struct seg_header *h;
    int rc;

    *w = SEG_WRITER_NULL;
    while (cap / 2 < expect && cap < r->max)
        cap *= 2;
    if (sizeof *h + index_bytes(cap) > r->max)
        return SEG_FULL;
    if (sizeof *h + index_bytes(cap) > r->size) {
        rc = r->grow(r, sizeof *h + index_bytes(cap), r->arg);
        if (rc < 0)
            return rc;
    }
    w->region = r;
    w->used = sizeof *h;
    w->cap = cap;
    w->index = take(w, index_bytes(cap));
    ((struct seg_index *)at(w, w->index))->cap = cap;
    h = header(w);
    *h = (struct seg_header){ .version = SEG_VERSION,
                              .header_bytes = sizeof *h,
                              .seed = seed,
                              .size = r->size,
                              .index = w->index };
    RELEASE(h->magic, SEG_MAGIC);
    w->view = (struct seg_view){ r->base, r->max };
    return 0;
}

/* The slot of (rank, key), or the free one where it belongs.  The index always has a free slot. */
static uint64_t *find_slot(struct seg_writer *w, uint32_t rank, struct slice key, uint64_t *want_p)
{
    struct seg_index *x = at(w, w->index);
    uint64_t hash = seg_hash(header(w)->seed, rank, key), mask = w->cap - 1;
    uint64_t want = SEG_SLOT_TAG(hash) | (rank == SEG_ANY_RANK ? SEG_SLOT_ANY : 0);

    *want_p = want;
    for (uint64_t i = hash & mask;; i = (i + 1) & mask) {
        uint64_t slot = x->slot[i];
        struct seg_record *r = at(w, (slot & SEG_SLOT_OFFSET) << 3);
        if (slot == 0)
            return &x->slot[i];
        if (SEG_SLOT_IS(slot, want) && (rank == SEG_ANY_RANK || r->rank == rank) &&
            slice_eq(slice_mem(r->bytes + r->value_len + r->quals_len, r->key_len), key))
            return &x->slot[i];
    }
}

static uint64_t record_bytes(const struct seg_item *item)
{
    return aligned(sizeof(struct seg_record) + item->value.len + item->quals.len + item->key.len);
}

static uint64_t slot_record(uint64_t slot)
{
    return (slot & SEG_SLOT_OFFSET) << 3;
}

/* Re-inserts all entries of the present index into one twice as large, at a place already reserved.
 */
static void grow_index(struct seg_writer *w)
{
    uint64_t cap = w->cap * 2, old_cap = w->cap;
    struct seg_index *old = at(w, w->index), *x;

    w->dead += index_bytes(old_cap);
    w->index = take(w, index_bytes(cap));
    w->cap = cap;
    x = at(w, w->index);
    STORE(x->cap, cap);
    for (uint64_t i = 0; i < old_cap; i++) {
        struct seg_record *r = at(w, slot_record(old->slot[i]));
        struct slice key;
        uint64_t pos;

        if (old->slot[i] == 0)
            continue;
        key = slice_mem(r->bytes + r->value_len + r->quals_len, r->key_len);
        pos = seg_hash(header(w)->seed, old->slot[i] & SEG_SLOT_ANY ? SEG_ANY_RANK : r->rank, key);
        while (x->slot[pos & (cap - 1)])
            pos++;
        x->slot[pos & (cap - 1)] = old->slot[i];
    }
    RELEASE(header(w)->index, w->index);
}

static uint64_t write_record(struct seg_writer *w, const struct seg_item *item, uint64_t bytes,
                             bool flat)
{
    uint64_t offset = take(w, bytes);
    struct seg_record *r = at(w, offset);
    char *to = r->bytes;

    *r = (struct seg_record){ .rank = item->rank,
                              .value_len = (uint32_t)item->value.len,
                              .quals_len = (uint32_t)item->quals.len,
                              .key_len = (uint16_t)item->key.len,
                              .type = item->type,
                              .scope = item->scope,
                              .flags = flat ? SEG_RECORD_FLAT : 0 };
    if (item->value.len)
        memcpy(to, item->value.ptr, item->value.len);
    to += item->value.len;
    if (item->quals.len)
        memcpy(to, item->quals.ptr, item->quals.len);
    to += item->quals.len;
    if (item->key.len)
        memcpy(to, item->key.ptr, item->key.len);
    w->key = slice_mem(to, item->key.len);
    return offset;
}

static void link_record(struct seg_writer *w, uint64_t offset)
{
    struct seg_header *h = header(w);

    if (w->last)
        RELEASE(((struct seg_record *)at(w, w->last))->next, offset);
    else
        RELEASE(h->first, offset);
    w->last = offset;
    RELEASE(h->entries, h->entries + 1);
}

static bool is_flat(struct seg_writer *w, uint64_t slot)
{
    return ((struct seg_record *)at(w, slot_record(slot)))->flags & SEG_RECORD_FLAT;
}

/* A replaced record: it cannot be found any more, but a reader that found it before may still read
 * it. */
static void count_dead(struct seg_writer *w, uint64_t was)
{
    struct seg_record *r = at(w, slot_record(was));

    w->dead += aligned(sizeof *r + (uint64_t)r->value_len + r->quals_len + r->key_len);
}

int seg_put_item(struct seg_writer *w, const struct seg_item *item, unsigned flags)
{
    uint64_t *own, *any, own_want, any_want, was, flat_was, record, bytes = record_bytes(item);
    bool flat = flags & SEG_FLAT || item->rank == SEG_ANY_RANK;
    bool crowded = w->filled + 2 > w->cap / 2; /* the index must grow first */
    int rc;

    if (item->key.len > UINT16_MAX || item->value.len > LIMIT_STORE_VALUE ||
        item->quals.len > LIMIT_STORE_VALUE)
        return SEG_TOO_LONG;
    own = find_slot(w, item->rank, item->key, &own_want);
    any = find_slot(w, SEG_ANY_RANK, item->key, &any_want);
    was = *own;
    flat_was = *any;
    if (!(flags & SEG_REPLACE) && (was || (flat && flat_was && is_flat(w, flat_was))))
        return SEG_DUPLICATE;
    rc = reserve(w, bytes + (crowded ? index_bytes(w->cap * 2) : 0));
    if (rc != 0)
        return rc;
    if (crowded) {
        grow_index(w);
        own = find_slot(w, item->rank, item->key, &own_want);
    }
    if (was) {
        flat = flat || is_flat(w, was); /* a rank that took the flat entry keeps it */
        count_dead(w, was);
    }
    record = write_record(w, item, bytes, flat);
    w->filled += *own == 0;
    RELEASE(*own, own_want | record >> 3);
    if (flags & SEG_UNLISTED)
        return 0;
    if (flat || flat_was == 0 || slot_record(flat_was) == slot_record(was)) {
        if (crowded || *any != flat_was) /* the other entry has taken this free slot */
            any = find_slot(w, SEG_ANY_RANK, item->key, &any_want);
        w->filled += *any == 0;
        RELEASE(*any, any_want | record >> 3);
        if (flat_was == 0)
            link_record(w, record);
    }
    return 0;
}

int seg_put(struct seg_writer *w, uint32_t rank, struct slice key, struct slice value,
            unsigned flags)
{
    return seg_put_item(w, &(struct seg_item){ .rank = rank, .key = key, .value = value }, flags);
}

void seg_publish(struct seg_writer *w)
{
    struct seg_header *h = header(w);

    RELEASE(h->generation, h->generation + 1);
}
