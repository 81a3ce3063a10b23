/* python_imports.c - fuzz target: the beginning of a Python program, of any bytes.  Whatever it is,
 * it gets one of the styles. */
#include <stdint.h>
#include <stdlib.h>

#include "launch/program_style.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum environment_style style = program_style_of_text(slice_mem(data, size));

    if (style == ENVIRONMENT_STYLE_NONE || style >= ENVIRONMENT_STYLES)
        abort();
    return 0;
}
