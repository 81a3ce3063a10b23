/* map.h - hash map from byte strings to pointers.
 *
 * Keys are borrowed: the caller keeps the bytes alive and unchanged while the entry is in the map
 * (usually they live inside the value).  The hash is seeded per map, so that a client that chooses
 * keys cannot choose collisions.  Open addressing with linear probing; removal shifts back, so
 * there are no tombstones.
 */
#ifndef WIREUP_BASE_MAP_H
#define WIREUP_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

struct map_slot {
    uint64_t hash;
    struct slice key;
    void *value; /* NULL: the slot is free */
};

struct map {
    struct map_slot *slots;
    size_t cap; /* a power of two, or 0 */
    size_t count;
    uint64_t seed;
};

#define MAP_NULL(seed_) ((struct map){ NULL, 0, 0, (seed_) })

void map_init(struct map *m, uint64_t seed);
void map_free(struct map *m); /* the values stay the caller's; harmless twice */

/* The value under key, or NULL. */
void *map_get(const struct map *m, struct slice key);

/* Puts value (not NULL) under key, replacing the former value, which goes to *old_p (unless NULL).
 * 0, or -ENOMEM with the map unchanged. */
int map_put(struct map *m, struct slice key, void *value, void **old_p);

/* Removes and returns the value under key, or NULL. */
void *map_del(struct map *m, struct slice key);

/* Iteration: *at starts at 0; returns values in no special order, then NULL.
 * The map must not change meanwhile. */
void *map_next(const struct map *m, size_t *at);

#endif
