/* procmap.c - fuzzes the reader of process mappings: whatever it reads is written in the complete
 * form, and reads the same again.  The first byte is the number of ranks. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/procmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t nodes[255], again[255], n;
    struct errmsg err;

    if (size < 1)
        return 0;
    n = data[0];
    if (procmap_read(slice_mem(data + 1, size - 1), n, nodes, &err) == 0 && n > 0) {
        struct buf out = BUF_NULL(65536);
        struct procmap_writer w;

        procmap_begin(&w, &out);
        for (uint32_t i = 0; i < n; i++)
            procmap_put(&w, nodes[i], 1);
        procmap_end(&w);
        if (procmap_read(buf_slice(&out), n, again, &err) != 0 ||
            memcmp(nodes, again, n * sizeof *nodes) != 0)
            abort();
        buf_free(&out);
    }
    return 0;
}
