/* openmpi_help.c - fuzzes help messages of Open MPI 4: lengths that lie, types, texts without an
 * end. */
#include <stdint.h>
#include <stdlib.h>

#include "wire/openmpi_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct openmpi_help h;

    if (openmpi_help_read(slice_mem(data, size), &h) &&
        (h.file.len + h.topic.len + h.text.len > size || slice_find(h.text, '\0') < h.text.len))
        abort();
    return 0;
}
