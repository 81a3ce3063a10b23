/* dvm_request.c - fuzzes the request to a DVM, and the line of its end: whatever is read can be
 * written, and is read again as the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/dvm_request.h"

enum { WORDS_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct slice *words, uint32_t n, struct arena *a)
{
    char **written = arena_array(a, (size_t)n + 1, sizeof *written);
    struct slice *read = arena_array(a, (size_t)n + 1, sizeof *read);
    struct buf line = BUF_NULL(1 << 20);
    uint32_t again = 0;

    if (!written || !read)
        abort();
    for (uint32_t i = 0; i < n; i++)
        written[i] = arena_str(a, words[i]);
    dvm_request_write(written, &line);
    if (!buf_ok(&line) ||
        !dvm_request_read(slice_skip(slice_head(buf_slice(&line), buf_len(&line) - 1), 3), a, read,
                          &again) ||
        again != n)
        abort();
    for (uint32_t i = 0; i < n; i++) {
        if (!slice_eq(words[i], read[i]))
            abort();
    }
    buf_free(&line);
}

/* An exit code of 128 and more reads as the signal that it stands for. */
static void check_end(struct slice line)
{
    struct errmsg why = { "" }, again = { "" };
    struct buf out = BUF_NULL(1 << 16);
    struct slice text;
    int code = 0, same = -1, rc = dvm_request_end_read(line, &code, &why);

    if (rc == DVM_REQUEST_BAD)
        return;
    dvm_request_end_write(code << 8, slice_str(why.text), &out);
    text = buf_slice(&out);
    if (rc == 0 && (dvm_request_end_read(slice_cut(&text, '\n'), &same, &again) || same != code))
        abort();
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_NULL(64 << 20);
    struct slice *words = arena_array(&a, size / 2 + 2, sizeof *words);
    uint32_t n = 0;

    if (words && size < WORDS_MAX && dvm_request_read(slice_mem(data, size), &a, words, &n))
        check_again(words, n, &a);
    check_end(slice_mem(data, size));
    arena_free(&a);
    return 0;
}
