/* join_request.h - what a node says that joins a launcher by itself (joining.h): one message, over
 * a link whose two ends have proved that they have the token.
 *
 *     wireup-join 1 NAME SLOTS
 *     wireup-join 2 NAME SLOTS REQUEST
 *
 * The second one is from a node of a job that the launcher itself has submitted for that request
 * (launch/second_jobs.h); its job's environment has the number, in WIREUP_JOIN_REQUEST.
 *
 * The answer is the daemon's record (bootstrap.h), or one of its answers, BOOTSTRAP_TROUBLE with
 * the reason of a refusal.  Pure.
 */
#ifndef WIREUP_DAEMON_JOIN_REQUEST_H
#define WIREUP_DAEMON_JOIN_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

#define JOIN_ADDRESS_VARIABLE "WIREUP_JOIN" /* of the launcher, if the words of --join lack it */
#define JOIN_REQUEST_VARIABLE "WIREUP_JOIN_REQUEST"

enum { JOIN_REQUEST_NAME = 255, JOIN_REQUEST_SLOTS = 1 << 20 };

struct join_request {
    char name[JOIN_REQUEST_NAME + 1]; /* of the node */
    uint32_t slots;                   /* 1 to JOIN_REQUEST_SLOTS */
    uint32_t request;                 /* 0: none: it has come by itself */
};

/* Letters, digits, '.', '-' and '_': a name that lists of nodes, commands and reports can hold. */
bool join_request_is_name(struct slice name);

void join_request_write(const struct join_request *q, struct buf *out);
/* False: it is damaged, or of a release that asks otherwise. */
bool join_request_read(struct slice text, struct join_request *q_p);

#endif
