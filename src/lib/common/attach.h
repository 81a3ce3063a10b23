/* attach.h - a client's view of the job's shared store, from the descriptor that the server passed.
 *
 * The store grows while we look; so that it need never be mapped again, more address space is taken
 * than it has today (shm/layout.h says why that is safe).  A process with little address space gets
 * a smaller window: what lies beyond is asked for by message.
 */
#ifndef WIREUP_LIB_COMMON_ATTACH_H
#define WIREUP_LIB_COMMON_ATTACH_H

#include <sys/types.h>

#include "shm/store_read.h"

struct attachment {
    struct seg_view view; /* of nothing, when there is no store */
    void *base;
    uint64_t mapped;
    dev_t device; /* which file it is */
    ino_t inode;
};

#define ATTACHMENT_NULL ((struct attachment){ SEG_VIEW_NULL, NULL, 0, 0, 0 })

/* Maps fd (which it closes, in any case) read-only.  0; -errno or SEG_FOREIGN: *a_p is
 * ATTACHMENT_NULL. */
int attach_store(int fd, struct attachment *a_p);
/* The same; but when *kept is of that very file, its mapping is taken from there.  Otherwise *kept
 * is detached. */
int attach_store_again(int fd, struct attachment *kept, struct attachment *a_p);
void detach_store(struct attachment *a); /* harmless twice */

#endif
