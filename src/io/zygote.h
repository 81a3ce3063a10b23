/* zygote.h - a program that is loaded once and forked for each rank (zygote_msg.h), as the daemon
 * sees it.
 *
 * It is started as a child of ours like any rank; its ranks are our children too, and get all that
 * child_start() would give them.  Whatever goes wrong, and whoever kills it at which instant: the
 * caller learns that there is no such process, and starts it by child_start().
 */
#ifndef WIREUP_IO_ZYGOTE_H
#define WIREUP_IO_ZYGOTE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "io/child.h"
#include "io/loop.h"

struct zygote {
    pid_t pid; /* 0: it has been reaped, or there is none */
    int fd, block, output;
    struct watch watch;
    struct timer timer;
    void (*decided)(void *arg, const char *why);
    void *arg;
};

#define ZYGOTE_NULL ((struct zygote){ .fd = -1, .block = -1, .output = -1 })

/* Starts it: path, argv, env and wdir as in `like`.  library: ours, to be preloaded; bound:
 * its ranks will be bound to processors.  decided() is called once, from the loop: NULL, or the
 * reason why it cannot be forked, a sentence without a subject's name ("its libraries ...").  0 or
 * -errno with a sentence. */
int zygote_open(struct zygote *z, struct loop *loop, const struct child_plan *like,
                const char *library, bool bound, void (*decided)(void *arg, const char *why),
                void *arg, struct errmsg *err);

/* A process as child_start() makes it, by a zygote that has decided for it, and was opened with the
 * same path, argv and wdir; p->stopped must be false.  0 and its pid; or ZYGOTE_GONE: there
 * is no such process, and the zygote is of no more use. */
enum { ZYGOTE_GONE = 1 };
int zygote_child(struct zygote *z, const struct child_plan *p, pid_t *pid_p);

/* Whoever waits for children tells it. */
bool zygote_reaped(struct zygote *z, pid_t pid);

/* Kills it, if it has not been reaped; its children stay.  Harmless twice. */
void zygote_close(struct zygote *z);

#endif
