/* leftovers.h - what processes of this node have registered for removal, in memory that supervisor
 * and worker share: if one of the two is killed, the other one removes it.
 *
 * The worker writes the whole list anew when it changes.  What does not fit is removed only by a
 * worker that ends as it should; so are paths in another root than ours.
 */
#ifndef WIREUP_DAEMON_LEFTOVERS_H
#define WIREUP_DAEMON_LEFTOVERS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/limit.h"
#include "io/cleanup.h"

/* Zeroed memory is an empty list. */
struct leftovers {
    atomic_uint used; /* bytes that may be read; 0 while the list is written */
    unsigned room;    /* bytes written */
    unsigned char bytes[LIMIT_LEFTOVERS];
};

/* A new list: begin, adds, end.  A writer that is killed meanwhile leaves an empty one.  Orders are
 * for our own root; false: it does not fit. */
void leftovers_begin(struct leftovers *l);
bool leftovers_add(struct leftovers *l, const struct cleanup_order *o, bool segment);
void leftovers_end(struct leftovers *l);

/* Removes all that is listed, when the processes have ended; then the list is empty. */
void leftovers_remove(struct leftovers *l);

#endif
