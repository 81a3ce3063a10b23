/* leftovers.c - fuzzes lists of what is to be removed: no text leads out of the bytes, and a list
 * that is written from what was read is read alike. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/leftovers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct slice text, const uint8_t *data, size_t size)
{
    const uint8_t *begin = (const uint8_t *)text.ptr;

    if (text.len && (begin < data || begin + text.len > data + size))
        abort();
}

static void same(const struct cleanup_order *a, const struct cleanup_order *b)
{
    if (!slice_eq(a->path, b->path) || !slice_eq(a->stay, b->stay) || a->uid != b->uid ||
        a->directory != b->directory || a->recursive != b->recursive ||
        a->empty_only != b->empty_only || a->leave_top != b->leave_top)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct leftovers list;
    struct slice rest = slice_mem(data, size), again;
    struct cleanup_order o, o2;
    struct leftovers_bytes *b = &list.lists[1];
    bool segment, segment2;

    while (leftovers_read(&rest, &o, &segment)) {
        check(o.path, data, size);
        check(o.stay, data, size);
        leftovers_begin(&list);
        if (!leftovers_add(&list, &o, segment))
            continue; /* longer than any list */
        again = slice_mem(b->bytes, b->used);
        if (!leftovers_read(&again, &o2, &segment2) || again.len || segment != segment2)
            abort();
        same(&o, &o2);
    }
    return 0;
}
