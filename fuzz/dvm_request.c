/* dvm_request.c - fuzzes the request to a DVM: whatever is read can be written, and is read again
 * as the same words. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_NULL(64 << 20);
    struct slice *words = arena_array(&a, size / 2 + 2, sizeof *words);
    uint32_t n = 0;

    if (words && size < WORDS_MAX && dvm_request_read(slice_mem(data, size), &a, words, &n))
        check_again(words, n, &a);
    arena_free(&a);
    return 0;
}
