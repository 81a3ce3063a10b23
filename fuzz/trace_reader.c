/* trace_reader.c - fuzzes traces: what somebody else wrote, cut off or changed is read and played
 * back, all at once and in pieces, with the same verdict. */
#include <stdint.h>
#include <stdlib.h>

#include "server/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STORE = 1 << 20 };

static int play(struct slice bytes, size_t step)
{
    struct replay *r = replay_new(STORE);
    struct replay_count count;
    struct errmsg err;
    int rc = 0;

    if (!r)
        abort();
    while (rc == 0 && bytes.len) {
        struct slice piece = slice_head(bytes, step < bytes.len ? step : bytes.len);
        rc = replay_feed(r, piece, &err);
        bytes = slice_skip(bytes, piece.len);
    }
    if (rc == 0)
        rc = replay_end(r, &count, &err);
    replay_free(r);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (play(slice_mem(data, size), size + 1) != play(slice_mem(data, size), 7))
        abort();
    return 0;
}
