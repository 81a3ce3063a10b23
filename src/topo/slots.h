/* slots.h - the places of a rank file as text: "1:0-2" "0:1,1:3" "4,6-7" "*".
 *
 *   LIST   = PLACE { , PLACE }          ';' does the same
 *   PLACE  = [PACKAGE:] CORES           a PLACE without a package is in that of the PLACE before
 *   CORES  = N, N-M or *                logical numbers: within the package, else of the machine
 *
 * The lists of a node's ranks are separated by '|', by local rank; an empty list is a rank that is
 * not bound.
 *
 * Pure, and without memory.
 */
#ifndef WIREUP_TOPO_SLOTS_H
#define WIREUP_TOPO_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

enum { SLOTS_ALL = UINT32_MAX };

struct slots_place {
    bool in_package;
    uint32_t package;  /* SLOTS_ALL: every one */
    uint32_t from, to; /* cores; from SLOTS_ALL: every one */
};

/* Takes the next place off the list; *place is zeroed before the first call.  True while there is
 * one; false with rest empty at the end, or with rest at the malformed place. */
bool slots_next(struct slice *rest, struct slots_place *place);

/* Checks such a list.  0, or 1 with "'x' is no place ...". */
int slots_check(struct slice list, struct errmsg *err);

#endif
