/* dvm_find.h - the DVMs of the user on this machine: each has a name.
 *
 * Without a name the one is meant that WIREUP_DVM names; else the one called `dvm`, which is the
 * name of a DVM that was given none; else the only one.
 */
#ifndef WIREUP_LAUNCH_DVM_FIND_H
#define WIREUP_LAUNCH_DVM_FIND_H

#include <stdbool.h>
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

/* UNKNOWN: the one that WIREUP_DVM names is not there.  SILENT: it cannot be connected to. */
enum { DVM_FIND_NONE = 1, DVM_FIND_SEVERAL, DVM_FIND_UNKNOWN, DVM_FIND_SILENT };

/* name NULL: by the rule above.  0; one of these with a sentence, and place_p->silent; -errno. */
int dvm_find(const char *name, struct dvm_place *place_p, struct errmsg *err);

/* The same, and a connection to it.  If it is found by its alias (io/rendezvous.h), no other
 * launcher is asked, and its slots are not known. */
int dvm_connect(const char *name, struct dvm_place *place_p, int *fd_p, struct errmsg *err);

/* After a request on that connection: false if the DVM hangs.  One that does not answer at once, as
 * it may have reason to, is asked something else. */
bool dvm_answers(const struct dvm_place *place, int fd);

#endif
