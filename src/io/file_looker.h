/* file_looker.h - looks at files whose file systems may not answer.
 *
 * To look at a file of a server that is down takes for ever, and whoever serves processes cannot
 * wait for it.  So a thread of its own looks, one file after the other; it is made for the first
 * one, and what it has seen comes in by the loop.  It has the rights of this process.
 */
#ifndef WIREUP_IO_FILE_LOOKER_H
#define WIREUP_IO_FILE_LOOKER_H

#include "base/slice.h"
#include "io/loop.h"

struct file_seen {
    uint64_t number; /* of the order */
    bool found;      /* false: it is not there, or may not be looked at */
    uint64_t size;
    int64_t accessed_ns, modified_ns; /* since 1970 */
};

typedef void file_seen_fn(void *arg, const struct file_seen *seen);

/* Zeroed memory is closed. */
struct file_looker {
    struct loop *loop;
    file_seen_fn *fn;
    void *arg;
    struct watch watch;
    int fd; /* to the thread; -1: nothing has been looked at yet */
};

/* fn gets what is seen, in the order of the orders. */
void file_looker_open(struct file_looker *f, struct loop *l, file_seen_fn *fn, void *arg);
/* Does not wait for a look that takes its time.  Harmless twice. */
void file_looker_close(struct file_looker *f);

/* root: the directory in which the path begins, and which no part of it leaves; 0: our own root.
 * The caller keeps it.  0 or -errno: there will be no answer. */
int file_looker_ask(struct file_looker *f, uint64_t number, int root, struct slice path);

#endif
