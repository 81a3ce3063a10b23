/* errand.h - what a standing system (`wireup up`) does for launchers of the same user: it starts
 * their daemons on its nodes, at once, where ssh would take its time.
 *
 * An errand is one program on one node, its standard input and its output a connection to who asked
 * (`wireup on NODE WORDS...`, called as ssh is).  The launcher of the standing system has the
 * connection, the daemon the process; in between are two channels.  Each launcher has its own
 * daemons, key and tree: a standing system knows nothing of their jobs, and they do not meet in it.
 */
#ifndef WIREUP_WIREUPD_ERRAND_H
#define WIREUP_WIREUPD_ERRAND_H

#include "wireupd/share.h"

/* Its channels have the numbers ERRAND_CHANNELS + 2 * number (in) and + 1 (out). */
enum { ERRAND_CHANNELS = 16, ERRAND_MOST = 4096 };

struct errands {
    struct share *share;
    struct list all;
    uint32_t next, count;
};

void errands_open(struct errands *e, struct share *s);
void errands_close(struct errands *e); /* harmless twice, and on zeroed memory */

/* Launcher: words (the first is the node, blanks between, %XX for what is special) for this
 * connection, which is taken over.  False: no such node, or too many; err says why. */
bool errand_take(struct errands *e, struct slice words, int fd, struct errmsg *err);

/* A message of proto/overlay.def that concerns errands; false: it does not. */
bool errand_hear(struct errands *e, const struct msg *m);

/* A daemon: the process of an errand has ended; false: it was none. */
bool errand_reaped(struct errands *e, pid_t pid);

/* A daemon is lost: what ran there has ended. */
void errands_lost(struct errands *e, uint32_t position);

#endif
