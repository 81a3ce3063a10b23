/* launcher_file.c - fuzz target: a file in the directory of -launchers-dir, of any bytes.  What is
 * read lies within it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/launcher_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct slice part, const uint8_t *data, size_t size)
{
    const char *begin = (const char *)data;

    if (part.len && (part.ptr < begin || part.ptr + part.len > begin + size))
        abort();
    if (part.len && memchr(part.ptr, '\n', part.len))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct launcher_file f = { 0 };

    if (!launcher_file_read(slice_mem(data, size), &f))
        return 0;
    if (!f.addresses.len)
        abort();
    check(f.addresses, data, size);
    check(f.boot, data, size);
    return 0;
}
