/* checks.h - whether a program may be forked where it stands: just before its main function.
 *
 * What a fork gives to all children alike, though each would have made its own, or does not give
 * to them at all: the table in checks.c.
 */
#ifndef WIREUP_LIB_ZYGOTE_CHECKS_H
#define WIREUP_LIB_ZYGOTE_CHECKS_H

#include <stdbool.h>

struct checks {
    bool bound;        /* the ranks will be bound to processors */
    bool bound_itself; /* a library has changed the processors of the process */
    bool handlers_lost;
    void *thread_number; /* where the C library keeps the number of the thread; set by the checks */
};

/* NULL, or the reason why not: "its libraries ...". */
const char *checks_why_not(struct checks *c);

#endif
