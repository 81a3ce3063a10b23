/* replay.h - replays a trace to a server core of its own and compares the results.
 *
 * Every call that the host once made to the server is made again, at the times in the trace; each
 * byte sent and each effect is compared with the trace.  The first difference ends the replay, with
 * one sentence.  So a trace of a failed run is a test case, and a change of behaviour between two
 * versions shows in any trace.
 *
 * Sans-IO: bytes of the trace in, verdict out.  The trace is not trusted: numbers in it are checked
 * before the core sees them.
 */
#ifndef WIREUP_SERVER_REPLAY_H
#define WIREUP_SERVER_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

struct replay;

enum {
    REPLAY_SAME = 0,
    REPLAY_DIFFERS = 1, /* err has the first difference */
    REPLAY_BAD = 2      /* not a trace, or an impossible one; err tells why */
};

struct replay_count {
    uint64_t records, bytes_in, bytes_out, effects;
    uint32_t connections, jobs;
    bool ended;  /* the trace has its last record */
    bool masked; /* credentials in it are overwritten */
};

/* store_max: bytes that each job's store may have.  NULL: no memory. */
struct replay *replay_new(uint64_t store_max);
struct replay *replay_free(struct replay *r); /* returns NULL; NULL is harmless */

/* The next bytes of the trace.  REPLAY_..., or -ENOMEM; anything but REPLAY_SAME is final. */
int replay_feed(struct replay *r, struct slice bytes, struct errmsg *err);

/* No more bytes.  A trace that was cut off is not an error: it only proves less. */
int replay_end(struct replay *r, struct replay_count *count_p, struct errmsg *err);

#endif
