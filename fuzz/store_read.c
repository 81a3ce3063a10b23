/* store_read.c - fuzz target: the input is somebody's idea of a job store.
 *
 * The first 16 bytes are corrected so that the input is let in; the rest must never lead a reader
 * out of the buffer, which is exactly as long as the input. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/store_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_lie_in(struct slice s, const uint8_t *base, size_t size)
{
    const uint8_t *p = (const uint8_t *)s.ptr;

    if (p < base || p > base + size || s.len > (size_t)(base + size - p))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seg_header *copy;
    struct seg_view v;
    struct seg_item item;
    uint64_t cursor = 0;

    if (size < sizeof *copy || !(copy = malloc(size)))
        return 0;
    memcpy(copy, data, size);
    copy->magic = SEG_MAGIC;
    copy->version = SEG_VERSION;
    copy->header_bytes = sizeof *copy;
    if (seg_open(copy, size, &v) != 0)
        abort();
    while (seg_next(&v, &cursor, &item)) {
        must_lie_in(item.key, (uint8_t *)copy, size);
        must_lie_in(item.value, (uint8_t *)copy, size);
        must_lie_in(item.quals, (uint8_t *)copy, size);
        seg_find(&v, item.rank, item.key, &item);
    }
    if (seg_find(&v, SEG_ANY_RANK, SLICE("a"), &item))
        must_lie_in(item.value, (uint8_t *)copy, size);
    seg_find(&v, 0, SLICE("key-0"), &item);
    free(copy);
    return 0;
}
