/* attach.h - a client's view of the job's shared store, mapped from the descriptor that the server
 * passed.
 *
 * The store can grow while it is mapped.  To avoid mapping it again, attach_store reserves more
 * address space than the store occupies today (store/layout.h says why that is safe).  A process
 * with little address space maps a smaller window and asks the server for anything beyond it.
 */
#ifndef WIREUP_LIB_COMMON_ATTACH_H
#define WIREUP_LIB_COMMON_ATTACH_H

#include <sys/types.h>

#include "store/store_read.h"

struct attachment {
    struct seg_view view; /* empty when there is no store */
    void *base;
    uint64_t mapped;
    dev_t device; /* identity of the file */
    ino_t inode;
};

#define ATTACHMENT_NULL ((struct attachment){ SEG_VIEW_NULL, NULL, 0, 0, 0 })

/* Maps fd read-only and closes it in any case.  Returns 0; on -errno or SEG_FOREIGN *a_p is
 * ATTACHMENT_NULL. */
int attach_store(int fd, struct attachment *a_p);
/* The same, but takes over the mapping in *kept when it is of the same file.  Otherwise *kept is
 * detached. */
int attach_store_again(int fd, struct attachment *kept, struct attachment *a_p);
void detach_store(struct attachment *a); /* idempotent */

#endif
