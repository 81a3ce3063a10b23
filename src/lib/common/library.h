/* library.h - the life of a client library in its process: initialized or not, calls under way,
 * forks, and what it says of failures.
 *
 * Each library has one of these, static, in the file with its public functions: its only static
 * data.  What is behind `member` is the library's own.
 *
 * A fork of an initialized process has no part in its parent's connection; the library registers a
 * handler (pthread_atfork) that calls library_forked.
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
    bool moving;    /* somebody is initializing or finalizing */
    bool forked;    /* this process is a fork of one that is initialized */
    bool watched;   /* forks are */
    bool debug;     /* (atomic) failures are told on standard error */
};

#define LIBRARY_INIT(name_)                                                                        \
    {                                                                                              \
        .name = (name_), .gate = LOCK_INIT                                                         \
    }

/* ---- calls: between the two the gate is locked and the member stays ---- */

/* False, unlocked: not initialized (err says why). */
bool library_enter(struct library *l, struct errmsg *err);
void library_leave(struct library *l);

/* Is it initialized, for this process?  (Anybody may change that at once.) */
bool library_is_there(struct library *l);

/* ---- initialization ---- */

enum library_state {
    LIBRARY_READY,  /* it is initialized already */
    LIBRARY_ABSENT, /* the caller is to make the member now, undisturbed */
    LIBRARY_FORKED  /* it cannot be, in this process (err says why) */
};

/* Locks.  To be followed by library_begun(), with the new member (NULL: failed) when it was ABSENT
 * and the present one otherwise. */
enum library_state library_begin(struct library *l, struct errmsg *err);
void library_begun(struct library *l, void *member);

/* Makes sure that forks are noticed.  Locked, while ABSENT.  0 or -ENOMEM. */
int library_watch_forks(struct library *l, void (*after)(void), struct errmsg *err);
/* The same, and reads the environment.  0, -errno, or 1: there is a launcher, and none that speaks
 * PMI; all with a sentence. */
int library_prepare(struct library *l, struct client_env *env, void (*after)(void),
                    struct errmsg *err);
void library_forked(struct library *l); /* in the child */

/* ---- finalization ---- */

/* Locks, waits for the calls under way, and hands the member over; NULL: there is none.  To be
 * followed by library_ended(). */
void *library_end(struct library *l);
void library_ended(struct library *l);

/* ---- telling ---- */

void library_set_debug(struct library *l, bool on);

/* One line on standard error, if that is wanted.  Returns code. */
int library_refuse(struct library *l, const char *function, int code, const char *why);

/* The text and a newline on standard error. */
void library_print(const char *text);

#endif
