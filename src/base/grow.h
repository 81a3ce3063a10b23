/* grow.h - an array that grows: room for one item more, twice as much each time. */
#ifndef WIREUP_BASE_GROW_H
#define WIREUP_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* items: n items of `size` bytes each in memory for *room_p, or NULL and 0; `first` is the room
 * that it begins with.  The array, with room for at least one item more; NULL: no memory, and the
 * array is as it was.  Inlined, since it is used where messages pass. */
static inline void *grow_by_one(void *items, size_t size, uint32_t n, uint32_t *room_p,
                                uint32_t first)
{
    uint32_t room = *room_p ? *room_p * 2 : first;
    void *more;

    if (n < *room_p)
        return items;
    more = realloc(items, room * size);
    if (more)
        *room_p = room;
    return more;
}

#endif
