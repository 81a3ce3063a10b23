/* pmix_zip.c - fuzzes decompression: lengths that lie, cut streams, bombs. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/pmix_zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *out = NULL, *packed = NULL, *again = NULL;
    size_t n = 0, m = 0, k = 0;

    if (pzip_unpack(slice_mem(data, size), 64 << 20, &out, &n) == 0) {
        if (out[n] != '\0' || n / 1032 > size)
            abort();
        if (pzip_pack(slice_mem(out, n), &packed, &m) == 0 &&
            (pzip_unpack(slice_mem(packed, m), n, &again, &k) != 0 || k != n ||
             memcmp(out, again, n) != 0))
            abort();
    }
    free(out);
    free(packed);
    free(again);
    return 0;
}
