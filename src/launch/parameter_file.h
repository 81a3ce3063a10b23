/* parameter_file.h - a line of Open MPI's files of parameters (mpirun --tune, --am): `KEY = VALUE`,
 * or options
 * `-mca KEY VALUE`, `-prtemca KEY VALUE`, `-pmixmca KEY VALUE`, `-x NAME=VALUE` and `-x NAME`, one
 * or more. Quotes and comments are as in mpmd.h, which cuts the lines.
 *
 * Pure.
 */
#ifndef WIREUP_LAUNCH_PARAMETER_FILE_H
#define WIREUP_LAUNCH_PARAMETER_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "launch/mpmd.h"

enum parameter_kind { PARAMETER_MCA, PARAMETER_PRTEMCA, PARAMETER_PMIXMCA, PARAMETER_VARIABLE };

struct parameter {
    enum parameter_kind kind;
    const char *key, *value; /* of a variable NULL: the inherited one */
};

enum { PARAMETER_END = 1, PARAMETER_BAD };

/* Takes the next one from the words of a line.  0; PARAMETER_END; PARAMETER_BAD with the sentence;
 * -ENOMEM. */
int parameter_next(struct arena *a, struct mpmd_words *line, struct parameter *p_p,
                   struct errmsg *err);

#endif
