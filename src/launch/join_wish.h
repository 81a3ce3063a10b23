/* join_wish.h - what a launch waits for whose nodes come by themselves (-join): so many nodes, or
 * slots for all ranks; and which options do not go together with that.
 *
 * With -nnodes K it waits for K nodes.  Otherwise for as many slots as there are ranks; a node has
 * the slots that it names itself, or -ppn of them.  The launcher's node counts too, unless it gets
 * no ranks (-join-only, -nolocal); if it were enough alone, nobody would be awaited, and the launch
 * is refused.
 *
 * Pure.
 */
#ifndef WIREUP_LAUNCH_JOIN_WISH_H
#define WIREUP_LAUNCH_JOIN_WISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "launch/options.h"

struct join_wish {
    uint32_t nodes; /* so many; 0: slots count */
    uint64_t slots;
    uint32_t per_node; /* slots of each node; 0: its own */
};

/* What is there. */
struct join_count {
    uint32_t nodes;
    uint64_t slots;
};

/* by_hardware: how many ranks a node gets is up to its hardware (-map-by ppr).  here: the slots of
 * the launcher's node.  LAUNCH_GO; LAUNCH_USAGE with the sentence. */
int join_wish_make(struct join_wish *w, const struct launch_options *o, bool by_hardware,
                   uint32_t here, struct errmsg *err);

/* One node more, of so many slots. */
void join_wish_count(const struct join_wish *w, struct join_count *c, uint32_t slots);
bool join_wish_met(const struct join_wish *w, const struct join_count *c);

#endif
