/* store_read.c - see store_read.h.  Two rules keep it safe: a field is loaded into a local variable
 * exactly once (an attacker may change it between two looks), and nothing is touched before
 * inside() has said that it lies in the mapping and in what the server published. */
#include "shm/store_read.h"

#include <stddef.h>

#define LOAD(field)    __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define ACQUIRE(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)

static const struct seg_header *header(const struct seg_view *v)
{
    return (const struct seg_header *)(const void *)v->base;
}

/* The size is read anew each time: what we follow may lie in a part that grew a moment ago. */
static bool inside(const struct seg_view *v, uint64_t offset, uint64_t len)
{
    uint64_t size = ACQUIRE(header(v)->size);

    if (size > v->len)
        size = v->len;
    return offset >= sizeof(struct seg_header) && offset <= size && len <= size - offset;
}

int seg_open(const void *base, uint64_t map_len, struct seg_view *view_p)
{
    const struct seg_header *h = base;

    *view_p = SEG_VIEW_NULL;
    if (!base || map_len < sizeof *h || ((uintptr_t)base & 7))
        return SEG_FOREIGN;
    if (LOAD(h->magic) != SEG_MAGIC || LOAD(h->version) != SEG_VERSION ||
        LOAD(h->header_bytes) < sizeof *h)
        return SEG_FOREIGN;
    *view_p = (struct seg_view){ base, map_len };
    return 0;
}

static const struct seg_record *record_at(const struct seg_view *v, uint64_t offset)
{
    if ((offset & 7) || !inside(v, offset, sizeof(struct seg_record)))
        return NULL;
    return (const struct seg_record *)(const void *)(v->base + offset);
}

/* Takes a record apart; false when it does not lie in the mapping as a whole. */
static bool open_record(const struct seg_view *v, uint64_t offset, struct seg_item *item_p)
{
    const struct seg_record *r = record_at(v, offset);
    uint32_t value_len, quals_len;
    uint16_t key_len;

    if (!r)
        return false;
    value_len = LOAD(r->value_len);
    quals_len = LOAD(r->quals_len);
    key_len = LOAD(r->key_len);
    if (!inside(v, offset + sizeof *r, (uint64_t)value_len + quals_len + key_len))
        return false;
    item_p->rank = LOAD(r->rank);
    item_p->type = LOAD(r->type);
    item_p->scope = LOAD(r->scope);
    item_p->flags = LOAD(r->flags);
    item_p->value = slice_mem(r->bytes, value_len);
    item_p->quals = slice_mem(r->bytes + value_len, quals_len);
    item_p->key = slice_mem(r->bytes + value_len + quals_len, key_len);
    return true;
}

/* The bucket array in use, or NULL; *cap_p is a power of two, and all its slots are inside. */
static const struct seg_index *open_index(const struct seg_view *v, uint64_t *cap_p)
{
    uint64_t offset = ACQUIRE(header(v)->index), cap;
    const struct seg_index *x;

    if ((offset & 7) || !inside(v, offset, sizeof *x))
        return NULL;
    x = (const struct seg_index *)(const void *)(v->base + offset);
    cap = LOAD(x->cap);
    if (cap == 0 || (cap & (cap - 1)) || cap > v->len / sizeof x->slot[0] ||
        !inside(v, offset + sizeof *x, cap * sizeof x->slot[0]))
        return NULL;
    *cap_p = cap;
    return x;
}

bool seg_find(const struct seg_view *v, uint32_t rank, struct slice key, struct seg_item *item_p)
{
    uint64_t hash, cap, want, slot;
    const struct seg_index *x;
    struct seg_item item;

    if (!v->base || !(x = open_index(v, &cap)))
        return false;
    hash = seg_hash(LOAD(header(v)->seed), rank, key);
    want = SEG_SLOT_TAG(hash) | (rank == SEG_ANY_RANK ? SEG_SLOT_ANY : 0);
    for (uint64_t i = 0; i < cap; i++) {
        slot = ACQUIRE(x->slot[(hash + i) & (cap - 1)]);
        if (slot == 0)
            return false;
        if (!SEG_SLOT_IS(slot, want) || !open_record(v, (slot & SEG_SLOT_OFFSET) << 3, &item))
            continue;
        if ((rank == SEG_ANY_RANK || item.rank == rank) && slice_eq(item.key, key)) {
            *item_p = item;
            return true;
        }
    }
    return false;
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
        next = ACQUIRE(header(v)->first);
    } else {
        r = record_at(v, *cursor);
        next = r ? ACQUIRE(r->next) : 0;
    }
    /* Records only ever refer forward: whoever closes the list into a ring ends it. */
    if (next <= *cursor || !open_record(v, next, &listed))
        return false;
    *cursor = next;
    /* The list holds the record of the first put; a later one may have replaced it. */
    if (!seg_find(v, SEG_ANY_RANK, listed.key, item_p))
        *item_p = listed;
    return true;
}

uint64_t seg_generation(const struct seg_view *v)
{
    return v->base ? ACQUIRE(header(v)->generation) : 0;
}

uint64_t seg_entries(const struct seg_view *v)
{
    return v->base ? ACQUIRE(header(v)->entries) : 0;
}
