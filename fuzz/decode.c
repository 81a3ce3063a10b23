/* decode.c - fuzzes the decoder of traces: the bytes of a connection, in both directions, whole and
 * in pieces.  Nothing is expected but that every byte comes out again, in messages or as the rest,
 * and that lists and groups are closed.
 *
 * Input: records of a head of two bytes (direction in the lowest bit of the first; how many bytes
 * follow) and the bytes.
 */
#include <stdint.h>
#include <stdlib.h>

#include "trace/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_nesting(const struct decoded *m)
{
    unsigned depth = 0;

    for (uint32_t i = 0; i < m->nfields; i++) {
        enum decode_kind kind = m->fields[i].kind;
        if (kind == DECODE_END && depth-- == 0)
            abort();
        depth += kind == DECODE_LIST || kind == DECODE_GROUP;
    }
    if (depth)
        abort();
}

static size_t take_all(struct decode *d, enum decode_way way)
{
    struct decoded m;
    size_t n = 0;

    while (decode_next(d, way, &m) == DECODE_MESSAGE) {
        check_nesting(&m);
        n += m.bytes.len;
    }
    return n;
}

static void play(struct slice all, size_t step)
{
    size_t in = 0, out = 0;
    struct decoded m;
    struct decode d;

    decode_init(&d);
    while (all.len > 2) {
        enum decode_way way = (enum decode_way)(all.ptr[0] & 1);
        struct slice bytes = slice_head(slice_skip(all, 2), (unsigned char)all.ptr[1]);
        all = slice_skip(all, 2 + bytes.len);
        in += bytes.len;
        while (bytes.len) {
            decode_feed(&d, way, slice_head(bytes, step));
            bytes = slice_skip(bytes, step);
            out += take_all(&d, way);
        }
    }
    for (int way = 0; way < DECODE_WAYS; way++) {
        if (decode_rest(&d, (enum decode_way)way, &m) == DECODE_MESSAGE)
            out += m.bytes.len;
    }
    decode_free(&d);
    if (in != out)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    play(slice_mem(data, size), SIZE_MAX);
    play(slice_mem(data, size), 7);
    return 0;
}
