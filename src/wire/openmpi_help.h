/* openmpi_help.h - a help message of Open MPI 4, as sent by PMIx_Log under PMIX_LOG_MSG.
 *
 * The value is a buffer of Open MPI's own packing: the file of help texts, the topic within it, and
 * the text to be shown.  Buffers of usual builds carry no types; those of debug builds do.  Open
 * MPI 5 sends the same three as plain PMIx attributes and needs none of this.
 *
 * Pure; the slices borrow from the input.
 */
#ifndef WIREUP_WIRE_OPENMPI_HELP_H
#define WIREUP_WIRE_OPENMPI_HELP_H

#include <stdbool.h>

#include "base/slice.h"

struct openmpi_help {
    struct slice file, topic; /* "help-mpi-runtime.txt", "mpi_init:startup" */
    struct slice text;        /* empty: it has been shown elsewhere */
};

/* False: not such a message. */
bool openmpi_help_read(struct slice bytes, struct openmpi_help *help_p);

#endif
