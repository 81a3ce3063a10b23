/* dvm_keep.c - fuzzes the file of a DVM that outlives its launcher: whatever is read can be
 * written, and read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launch/dvm_keep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char token[DVM_KEEP_TOKEN] = { 0 }, other[DVM_KEEP_TOKEN] = { 0 };
    struct arena a = ARENA_NULL(1 << 24);
    struct buf text = BUF_NULL(1 << 24);
    struct dvm_keep k, again;

    if (dvm_keep_read(&k, &a, slice_mem(data, size), token) == 0) {
        dvm_keep_write(&k, &text);
        if (!buf_ok(&text) || dvm_keep_read(&again, &a, buf_slice(&text), other) != 0 ||
            again.nnodes != k.nnodes || again.njobs != k.njobs ||
            memcmp(token, other, sizeof token) != 0)
            abort();
    }
    buf_free(&text);
    arena_free(&a);
    return 0;
}
