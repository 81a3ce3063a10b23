/* dvm_find.h - the DVMs of the user on this machine: each has a name.
 *
 * Without a name the one is meant that WIREUP_DVM names; else the one called `dvm`, which is the
 * name of a DVM that was given none; else the only one.
 */
#ifndef WIREUP_LAUNCH_DVM_FIND_H
#define WIREUP_LAUNCH_DVM_FIND_H

#include <stdint.h>

#include "base/err.h"
#include "base/limit.h"
#include "io/rendezvous.h"

#define DVM_UNNAMED "dvm"

struct dvm_place {
    struct launcher_name where;
    char name[LIMIT_JOB_NAME + 1];
    uint32_t slots; /* of the nodes that may be used */
    pid_t silent;   /* none was found, and this launcher has not answered; 0: all have */
};

/* UNKNOWN: the one that WIREUP_DVM names is not there. */
enum { DVM_FIND_NONE = 1, DVM_FIND_SEVERAL, DVM_FIND_UNKNOWN };

/* name NULL: by the rule above.  0; one of these with a sentence, and place_p->silent; -errno. */
int dvm_find(const char *name, struct dvm_place *place_p, struct errmsg *err);

#endif
