/* token.c - fuzzes tokens: what nobody has signed is never good; what is signed is read back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_back(const unsigned char *key, const uint8_t *data, size_t size)
{
    struct buf text = BUF_NULL(4096);
    struct token t = { .uid = (uint32_t)size, .expires_s = 2 }, back;

    for (size_t i = 0; i < size && i < TOKEN_NSPACE && data[i]; i++)
        t.nspace[i] = (char)data[i];
    token_write(key, &t, &text);
    if (buf_ok(&text) && (token_read(key, t.nspace, 1, buf_slice(&text), &back) != 0 ||
                          back.uid != t.uid || strcmp(back.nspace, t.nspace) != 0))
        abort();
    buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char key[TOKEN_KEY] = "nobody who sends this has this";
    struct token t;

    if (token_read(key, "", 0, slice_mem(data, size), &t) == 0)
        abort();
    read_back(key, data, size);
    return 0;
}
