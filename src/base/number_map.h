/* number_map.h - hash map from numbers to pointers.
 *
 * For numbers that no adversary can choose freely: positions of nodes, tickets of our own.  A slot
 * is half as large as one of map.h, and a number is found without a look at the value.  Open
 * addressing with linear probing; removal shifts back, so there are no tombstones.
 */
#ifndef WIREUP_BASE_NUMBER_MAP_H
#define WIREUP_BASE_NUMBER_MAP_H

#include <stddef.h>
#include <stdint.h>

struct number_map_slot {
    uint64_t number;
    void *value; /* NULL: the slot is free */
};

/* Zeroed memory is an empty map. */
struct number_map {
    struct number_map_slot *slots;
    uint32_t cap; /* a power of two, or 0 */
    uint32_t count;
};

void number_map_free(struct number_map *m); /* the values stay the caller's; harmless twice */

/* The value under the number, or NULL. */
void *number_map_get(const struct number_map *m, uint64_t number);

/* Puts a value (not NULL) under a number that has none.  0, or -ENOMEM with the map unchanged. */
int number_map_put(struct number_map *m, uint64_t number, void *value);

/* Removes and returns the value under the number, or NULL. */
void *number_map_del(struct number_map *m, uint64_t number);

/* Iteration: *at starts at 0; returns values in no special order, then NULL.
 * The map must not change meanwhile. */
void *number_map_next(const struct number_map *m, size_t *at);

#endif
