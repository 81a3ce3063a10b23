/* replacing.h - a node of a job is lost, and another machine takes its place (-on-failure replace):
 * one that has no process of the job; if there is none, one that comes within the time that the
 * user gives it (-replace-wait).
 *
 * While a node is awaited, its ranks have not ended, fences with them wait, and the overlay does
 * not decide what the loss means (membership_defer()).  They end if nobody comes, and without a
 * word if the job has been asked to end.
 */
#ifndef WIREUP_DAEMON_REPLACING_H
#define WIREUP_DAEMON_REPLACING_H

#include "base/list.h"
#include "io/loop.h"

struct cluster_io;
struct job;

/* The ranks of the job at that position end; why: the reason of the loss; NULL: the job ends, and
 * it is no failure of its own. */
typedef void replacing_lose_fn(struct cluster_io *s, struct job *j, uint32_t position,
                               const char *why);

struct replacing {
    struct cluster_io *cluster; /* NULL: not open */
    replacing_lose_fn *lose;
    struct list waits;
    struct timer due;
};

void replacing_open(struct replacing *r, struct cluster_io *s, replacing_lose_fn *lose);
void replacing_close(struct replacing *r); /* harmless twice, and on zeroed memory */

/* Launcher: that node of the plan is lost, which was at that position.  True: its ranks are not, or
 * not yet. */
bool replacing_begin(struct replacing *r, struct job *j, uint32_t node, uint32_t position,
                     const char *why);

/* Launcher: a daemon has joined, and knows the jobs. */
void replacing_offer(struct replacing *r);
/* Launcher: jobs may have been asked to end. */
void replacing_turn(struct replacing *r);

#endif
