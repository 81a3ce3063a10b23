/* leftovers_file.h - a list in a file that outlives all who know it, until somebody finds it.
 *
 * The file is in /dev/shm, which each machine has for itself and loses when it is started anew.
 * Its name has the user and the name spaces that its paths and numbers are from.  Its writer holds
 * a lock on it, which the kernel takes away with the writer: an unlocked file is an orphan.  Others
 * may take such names, so a file counts only if it is a plain one of our user, without other names.
 */
#ifndef WIREUP_DAEMON_LEFTOVERS_FILE_H
#define WIREUP_DAEMON_LEFTOVERS_FILE_H

#include "base/slice.h"

enum { LEFTOVERS_FILE_NAME = 120 };

/* Zeroed: there is none. */
struct leftovers_file {
    char name[LEFTOVERS_FILE_NAME]; /* empty: none */
    int lock;                       /* the writer's descriptor */
};

/* The list is this one now; an empty one needs no file.  Where it cannot be written there is none,
 * and nobody comes who could be told. */
void leftovers_file_write(struct leftovers_file *f, struct slice list);

/* It is not needed any more.  By the writer, or when that has ended. */
void leftovers_file_unlink(struct leftovers_file *f);

/* Calls fn for each orphan of our user, and unlinks it. */
void leftovers_file_each_orphan(void (*fn)(struct slice list));

#endif
