/* synonyms.c - see synonyms.h. */
#include "launch/synonyms.h"

/* The columns of synonyms.def. */
enum {
    HYDRA = SYNONYM_HYDRA,
    MPIRUN4 = SYNONYM_MPIRUN4,
    MPIRUN5 = SYNONYM_MPIRUN5,
    PRTERUN = SYNONYM_PRTERUN,
    MPIRUN = SYNONYM_MPIRUN,
    TORCHRUN = SYNONYM_TORCHRUN,
    ALL = SYNONYM_ALL,
};

#define ROW(mode, kind, whose, n, names, arg, means, help)                                         \
    case __COUNTER__ - FIRST:                                                                      \
        return (struct synonym){ SYNONYM_##mode, SYNONYM_##kind, (whose), (n),                     \
                                 (names),        (arg),          (means), (help) };

enum { FIRST = __COUNTER__ + 1 };

struct synonym synonym_at(size_t i)
{
    switch (i) {
#define OWN(whose, names)                       ROW(OPTION, OWN, whose, 0, names, NULL, NULL, NULL)
#define ALIAS(whose, names, option)             ROW(OPTION, ALIAS, whose, 0, names, NULL, option, NULL)
#define AS(whose, names, n, arg, options)       ROW(OPTION, AS, whose, n, names, arg, options, NULL)
#define NOTHING(whose, names, n, arg, why)      ROW(OPTION, NOTHING, whose, n, names, arg, why, NULL)
#define REFUSED(whose, names, n, why)           ROW(OPTION, REFUSED, whose, n, names, NULL, why, NULL)
#define CALLED(whose, names, n, why)            ROW(OPTION, CALLED, whose, n, names, NULL, why, NULL)
#define WORD_AS(list, whose, names, options)    ROW(list, AS, whose, 0, names, NULL, options, NULL)
#define WORD_IF(list, whose, names, options)    ROW(list, AS_IF, whose, 0, names, NULL, options, NULL)
#define WORD_FIRST(list, whose, names, options) ROW(list, AS, whose, 0, names, NULL, options, NULL)
#define WORD_REFUSED(list, whose, names, why)   ROW(list, REFUSED, whose, 0, names, NULL, why, NULL)
#define SRUN(kind, names, arg, means, help)                                                        \
    ROW(LINE_srun, kind, SYNONYM_SRUN, 0, names, arg, means, help)
#define SRUN_SAME(names, arg, options, help)  SRUN(AS, names, arg, options, help)
#define SRUN_READ(names, arg, function, help) SRUN(READ, names, arg, NULL, help)
#define SRUN_NOTED(names, arg, why)           SRUN(NOTED, names, arg, why, NULL)
#define SRUN_REFUSED(names, arg, why)         SRUN(REFUSED, names, arg, why, NULL)
#include "launch/synonyms.def"
    }
    return (struct synonym){ .names = "" };
}

const size_t synonym_count = __COUNTER__ - FIRST;
