/* library.h - the state of a client library in its process: whether it is initialized, calls under
 * way, forks, and the reporting of failures.
 *
 * Each library has one of these, static, in the file with its public functions: its only static
 * data.  The object that `member` points to belongs to the library.
 *
 * A forked child has no part in its parent's connection; the library registers a handler
 * (pthread_atfork) that calls library_forked.
 */
#ifndef WIREUP_LIB_COMMON_LIBRARY_H
#define WIREUP_LIB_COMMON_LIBRARY_H

#include <stdbool.h>

#include "base/err.h"
#include "lib/common/env.h"
#include "lib/common/lock.h"

struct library {
    const char *name; /* "libpmi" */
    struct lock gate;
    void *member;   /* NULL: not initialized */
    unsigned users; /* calls under way */
    bool moving;    /* a thread is initializing or finalizing */
    bool forked;    /* this process is a fork of one that is initialized */
    bool watched;   /* the fork handler is registered */
    bool unmanaged; /* set before library_prepare(): no process manager is expected */
    bool debug;     /* (atomic) failures are reported on standard error */
};

#define LIBRARY_INIT(name_)                                                                        \
    {                                                                                              \
        .name = (name_), .gate = LOCK_INIT                                                         \
    }

/* ---- calls: between the two the lock is held and the member stays ---- */

/* Locks and counts the caller.  False, unlocked: not initialized (err says why). */
bool library_enter(struct library *l, struct errmsg *err);
void library_leave(struct library *l);

/* Whether it is initialized for this process.  (Another thread may change that at any time.) */
bool library_is_there(struct library *l);

/* ---- initialization ---- */

enum library_state {
    LIBRARY_READY,  /* already initialized */
    LIBRARY_ABSENT, /* the caller now makes the member, undisturbed */
    LIBRARY_FORKED  /* impossible in this process (err says why) */
};

/* Locks.  Must be followed by library_begun(), with the new member (NULL: failed) after ABSENT
 * and with the present one otherwise. */
enum library_state library_begin(struct library *l, struct errmsg *err);
void library_begun(struct library *l, void *member);

/* Registers the fork handler, once, and reads the environment.  Locked, while ABSENT.  0, -errno,
 * or 1: there is a launcher, but it does not offer PMI; each failure has a sentence in err. */
int library_prepare(struct library *l, struct client_env *env, void (*after)(void),
                    struct errmsg *err);
void library_forked(struct library *l); /* in the child */

/* ---- finalization ---- */

/* Locks, waits for the calls under way, and hands the member over; NULL: there is none.  Must be
 * followed by library_ended(). */
void *library_end(struct library *l);
void library_ended(struct library *l);

/* ---- messages ---- */

/* Writes one line on standard error if debug is on.  Returns code. */
int library_refuse(struct library *l, const char *function, int code, const char *why);

/* Writes the text and a newline on standard error. */
void library_print(const char *text);

#endif
