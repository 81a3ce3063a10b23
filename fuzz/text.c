/* text.c - fuzzes the text codec: whatever decodes must encode again, and decode to the same
 * message.  The first byte chooses the style, the rest is one message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "wire/pmi1.h"
#include "wire/pmi2.h"
#include "wire/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union any_message {
    union pmi1_any pmi1;
    union pmi2_any pmi2;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct text_proto *proto = &pmi1_proto;
    union any_message first, again;
    enum text_style style;
    struct arena arena;
    struct buf out;
    unsigned msg, same;

    if (size < 1)
        return 0;
    style = (enum text_style)(data[0] % 3);
    if (style == TEXT_SEMICOLONS)
        proto = &pmi2_proto;
    arena_init(&arena, LIMIT_PMI_SPAWN * 8);
    buf_init(&out, LIMIT_PMI_SPAWN);
    if (text_decode(proto, style, (struct slice){ (const char *)data + 1, size - 1 }, &arena, &msg,
                    &first, sizeof(first), NULL) == TEXT_FINE &&
        text_encode(proto, style, msg, &first, &out, NULL) == TEXT_FINE) {
        struct slice line = buf_slice(&out);

        if (style != TEXT_SEMICOLONS && line.len > 0 && line.ptr[line.len - 1] == '\n')
            line.len--;
        if (text_decode(proto, style, line, &arena, &same, &again, sizeof(again), NULL) !=
                TEXT_FINE ||
            same != msg)
            abort();
    }
    buf_free(&out);
    arena_free(&arena);
    return 0;
}
