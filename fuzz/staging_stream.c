/* staging_stream.c - fuzzes the stream of staged files: what is read, in pieces of any length, has
 * the form that it may have, and reads the same when it has been written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/staging_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

/* An item never leads out of its directory, and is the same when it is written. */
static void check(const struct staging_item *item, struct slice bytes, size_t used)
{
    struct buf again = BUF_NULL(1 << 20);

    must(used > 0 && used <= bytes.len && item->mode <= 0777);
    if (item->kind == STAGING_DIR || item->kind == STAGING_FILE || item->kind == STAGING_LINK)
        must(staging_name_is_good(item->name));
    if (item->kind != STAGING_BYTES) {
        staging_stream_put(item, &again);
        must(buf_ok(&again) && slice_eq(buf_slice(&again), slice_head(bytes, used)));
    }
    buf_free(&again);
}

/* The number of items, and a sum over them. */
static uint64_t read_all(struct slice in, size_t piece)
{
    struct staging_stream s = STAGING_STREAM_NULL;
    struct staging_item item;
    struct errmsg err;
    size_t used, here = 0;
    uint64_t sum = 0;
    int rc = 0;

    while (rc != STAGING_BAD) {
        rc = staging_stream_read(&s, slice_head(in, here), &item, &used, &err);
        if (rc == STAGING_MORE && here >= in.len)
            break;
        if (rc == STAGING_MORE)
            here += piece;
        if (rc)
            continue;
        check(&item, in, used);
        sum += item.kind == STAGING_BYTES ? used : (sum + 1) * 31 + (uint64_t)item.kind + used;
        in = slice_skip(in, used);
        here = here > used ? here - used : 0;
    }
    return sum * 2 + s.ended;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_mem(data, size);
    char name[STAGING_NAME + 1], path[256];
    size_t n = size < sizeof path - 1 ? size : sizeof path - 1;

    must(read_all(in, size + 1) == read_all(in, 1 + size % 7));
    if (size)
        memcpy(path, data, n);
    path[n] = '\0';
    if (staging_name_of(path, name))
        must(staging_name_is_good(slice_str(name)));
    return 0;
}
