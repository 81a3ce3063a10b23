/* search.h - binary search in an array in ascending order.  (bsearch() of libc finds any of several
 * equal items, and no place for one that is missing.)
 */
#ifndef WIREUP_BASE_SEARCH_H
#define WIREUP_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

/* Whether an item of the array comes before the key. */
typedef bool search_is_before(const void *item, const void *key);

/* The index of the first of n items, of `size` bytes each, that does not come before the key; n:
 * all do.  Inlined, together with the comparison, since it is used where every message passes. */
static inline __attribute__((always_inline)) size_t
search_first(const void *items, size_t n, size_t size, search_is_before *is_before, const void *key)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before((const char *)items + middle * size, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
