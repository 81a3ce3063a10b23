/* memory.h - a region for the store in this process's own memory.
 *
 * For tests, simulations and singletons: the same store, not shared.
 */
#ifndef WIREUP_STORE_MEMORY_H
#define WIREUP_STORE_MEMORY_H

#include "store/store_write.h"

/* A region of at most max bytes, zeroed.  0 or -ENOMEM (then *r_p is empty). */
int seg_memory_open(uint64_t max, struct seg_region *r_p);
void seg_memory_close(struct seg_region *r); /* harmless twice */

#endif
