/* leftovers.h - what processes of this node have registered for removal, where it outlives us.
 *
 * It is in memory that supervisor and worker share: if one of the two is killed, the other one
 * removes it.  And it is in a file of /dev/shm that the worker has locked (leftovers_file.h): if
 * both are killed, whoever of the same user comes next on this machine removes it, be it the
 * launcher that has lost this daemon or the next daemon.
 *
 * The worker writes the whole list anew when it changes; the list before counts until that is done.
 * What does not fit is removed only by a worker that ends as it should; so are paths in another
 * root than ours.
 */
#ifndef WIREUP_DAEMON_LEFTOVERS_H
#define WIREUP_DAEMON_LEFTOVERS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/limit.h"
#include "daemon/leftovers_file.h"
#include "io/cleanup.h"

/* Zeroed memory is an empty list.  Of an empty one only the beginning is touched: the lists are
 * many pages. */
struct leftovers {
    struct leftovers_file file;
    atomic_uint current; /* which of the two counts; the other one may be half written */
    struct leftovers_bytes {
        unsigned used;
        unsigned char bytes[LIMIT_LEFTOVERS];
    } lists[2];
};

/* A new list: begin, adds, end.  A writer that is killed meanwhile leaves the one before.  Orders
 * are for our own root; false: it does not fit. */
void leftovers_begin(struct leftovers *l);
bool leftovers_add(struct leftovers *l, const struct cleanup_order *o, bool segment);
void leftovers_end(struct leftovers *l);

/* Removes all that is listed, when the processes have ended; then the list is empty. */
void leftovers_remove(struct leftovers *l);

/* Removes what the files of those list who were killed, both of them. */
void leftovers_tidy(void);

/* One entry, whose texts point into the bytes.  False: there is none, or it is none. */
bool leftovers_read(struct slice *rest, struct cleanup_order *o, bool *segment_p);

#endif
