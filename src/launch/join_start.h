/* join_start.h - a launch whose nodes come by themselves (`wireup -join`, `wireupd --join`): one
 * job, and no DVM.
 *
 * A node that comes gets a position and its record at once (launch/joins.h), and is a member of the
 * tree from then on, as in a DVM; one that is lost before the start is not counted any more.  As
 * soon as enough are there (join_wish.h), the job is planned over them, in the order of their
 * names, and starts (remote.h).  Later ones are refused.
 *
 * A node under the name of one that is there is refused, once that one has answered; else the old
 * one is lost, and the new one gets a position of its own (joins_probe.h).
 */
#ifndef WIREUP_LAUNCH_JOIN_START_H
#define WIREUP_LAUNCH_JOIN_START_H

#include "launch/join_wish.h"
#include "launch/joins.h"
#include "launch/joins_probe.h"
#include "launch/remote.h"

struct join_start {
    struct remote *remote;
    struct joins joins;
    struct joins_probe probe;
    const struct join_wish *wish;
    bool open;
    bool begun;        /* enough have come */
    struct timer late; /* then people are told who is there, where no progress is shown */
};

/* Before the environment is passed on to anybody: takes the token out of it. */
void join_start_take_token(struct join_start *s);

/* After the options have been read: the token, and what the options mean with -join.  0;
 * LAUNCH_REFUSED with a sentence. */
int join_start_prepare(struct join_start *s, struct launch_options *o, struct job_map *plan,
                       struct errmsg *err);

/* How many nodes may come, with those that are lost before the start. */
uint32_t join_start_room(const struct launch_options *o);

/* After remote_open(): nodes may come.  0; else a sentence in err. */
int join_start_open(struct join_start *s, struct remote *f, struct errmsg *err);
void join_start_close(struct join_start *s); /* harmless twice, and on zeroed memory */

#endif
