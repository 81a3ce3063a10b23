/* synonyms.h - the table synonyms.def as data: for the texts that are made from it, and for the
 * tests that try every row.  The parsers expand the rows themselves (options.c, option_words.c,
 * srun_words.c).
 */
#ifndef WIREUP_LAUNCH_SYNONYMS_H
#define WIREUP_LAUNCH_SYNONYMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

/* Whose a word is: bits. */
enum {
    SYNONYM_HYDRA = 1 << 0,
    SYNONYM_MPIRUN4 = 1 << 1,
    SYNONYM_MPIRUN5 = 1 << 2,
    SYNONYM_PRTERUN = 1 << 3,
    SYNONYM_MPIRUN = SYNONYM_MPIRUN4 | SYNONYM_MPIRUN5 | SYNONYM_PRTERUN,
    SYNONYM_SRUN = 1 << 4,
    SYNONYM_TORCHRUN = 1 << 5,
    SYNONYM_ALL = SYNONYM_HYDRA | SYNONYM_MPIRUN,
};

/* Where it is understood. */
enum synonym_mode {
    SYNONYM_OPTION = 0, /* an option of the command line */
    SYNONYM_display,    /* a word in the value of -display ... */
    SYNONYM_output,
    SYNONYM_map,
    SYNONYM_bind,
    SYNONYM_runtime,
    SYNONYM_mca,
    SYNONYM_LINE_srun, /* an option of `wireup srun` */
};

enum synonym_kind {
    SYNONYM_OWN,     /* an option of ours has this name; means is NULL */
    SYNONYM_ALIAS,   /* means: our option */
    SYNONYM_AS,      /* means: options of ours with their values, % is its own; "" nothing */
    SYNONYM_AS_IF,   /* the same, if its value is not false */
    SYNONYM_NOTHING, /* means: why it has no effect */
    SYNONYM_READ,    /* means: a sentence */
    SYNONYM_NOTED,   /* means: why a remark says that it has no effect */
    SYNONYM_REFUSED, /* means: why */
    SYNONYM_CALLED,  /* refused when we are called by its launcher's name */
};

struct synonym {
    enum synonym_mode mode;
    enum synonym_kind kind;
    unsigned whose, count; /* count: its values, of an option */
    const char *names;     /* "a|b" */
    const char *arg;       /* NULL: the table does not say, or it is a flag */
    const char *means;
    const char *help; /* of srun's options: a sentence about what it means; else NULL */
};

/* Row i of synonym_count.  The rows are code: a table with so many addresses would be written to,
 * page by page, at each start of the launcher, though only texts are made from it. */
struct synonym synonym_at(size_t i);
extern const size_t synonym_count;

#endif
