/* own_memory.h - for targets that are also run while memory is refused (memory.c): what the target
 * takes for itself, between own_memory(true) and own_memory(false), is not. */
#ifndef WIREUP_FUZZ_OWN_MEMORY_H
#define WIREUP_FUZZ_OWN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/alloc.h"

/* Not there in a fuzzer. */
#pragma weak alloc_pause

static inline bool memory_is_refused(void)
{
    return alloc_pause != NULL;
}

static inline void own_memory(bool begin)
{
    if (alloc_pause)
        alloc_pause(begin);
}

#endif
