/* map.c - see map.h. */
#include "base/map.h"

#include <errno.h>
#include <stdlib.h>

void map_init(struct map *m, uint64_t seed)
{
    *m = MAP_NULL(seed);
}

void map_free(struct map *m)
{
    free(m->slots);
    *m = MAP_NULL(m->seed);
}

/* The slot that holds key, or the free slot for it.  There must be a free slot. */
static struct map_slot *find(const struct map *m, struct slice key, uint64_t hash)
{
    size_t mask = m->cap - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_slot *slot = &m->slots[i];
        if (!slot->value || (slot->hash == hash && slice_eq(slot->key, key)))
            return slot;
    }
}

void *map_get(const struct map *m, struct slice key)
{
    if (m->count == 0)
        return NULL;
    return find(m, key, slice_hash(key, m->seed))->value;
}

static int grow(struct map *m)
{
    struct map bigger = *m;

    bigger.cap = m->cap ? m->cap * 2 : 4;
    bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < m->cap; i++) {
        if (m->slots[i].value)
            *find(&bigger, m->slots[i].key, m->slots[i].hash) = m->slots[i];
    }
    free(m->slots);
    *m = bigger;
    return 0;
}

int map_put(struct map *m, struct slice key, void *value, void **old_p)
{
    uint64_t hash = slice_hash(key, m->seed);
    struct map_slot *slot;

    if (m->count + 1 > m->cap / 4 * 3) {
        int rc = grow(m);
        if (rc < 0)
            return rc;
    }
    slot = find(m, key, hash);
    if (old_p)
        *old_p = slot->value;
    if (!slot->value)
        m->count++;
    *slot = (struct map_slot){ hash, key, value };
    return 0;
}

void *map_del(struct map *m, struct slice key)
{
    size_t mask = m->cap - 1, hole;
    struct map_slot *slot;
    void *value;

    if (m->count == 0)
        return NULL;
    slot = find(m, key, slice_hash(key, m->seed));
    value = slot->value;
    if (!value)
        return NULL;
    hole = (size_t)(slot - m->slots);
    for (size_t i = (hole + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
        size_t home = m->slots[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) { /* may move back into the hole */
            m->slots[hole] = m->slots[i];
            hole = i;
        }
    }
    m->slots[hole] = (struct map_slot){ 0, SLICE_NULL, NULL };
    m->count--;
    return value;
}

void *map_next(const struct map *m, size_t *at)
{
    while (*at < m->cap) {
        void *value = m->slots[(*at)++].value;
        if (value)
            return value;
    }
    return NULL;
}
