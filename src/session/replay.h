/* replay.h - plays a recording to a server core of its own and compares what that says.
 *
 * Everything that the host once told the server it is told again, at the times that the recording
 * has; each byte it says and each effect it wants is compared with the recording.  The first
 * difference ends it, in one sentence.  So a recording of a failed run is a test case, and a change
 * of behaviour between two versions shows in whatever was recorded.
 *
 * Sans-IO: bytes of the recording in, verdict out.  The recording is not trusted: numbers in it are
 * checked before the core sees them.
 */
#ifndef WIREUP_SESSION_REPLAY_H
#define WIREUP_SESSION_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"

struct replay;

enum {
    REPLAY_SAME = 0,
    REPLAY_DIFFERS = 1, /* err has the first difference */
    REPLAY_BAD = 2      /* not a recording, or one that cannot be; err says why */
};

struct replay_count {
    uint64_t records, bytes_in, bytes_out, effects;
    uint32_t connections, jobs;
    bool ended; /* the recording has its last record */
};

/* store_max: bytes that each job's store may have.  NULL: no memory. */
struct replay *replay_new(uint64_t store_max);
struct replay *replay_free(struct replay *r); /* returns NULL; NULL is harmless */

/* The next bytes of the recording.  REPLAY_..., or -ENOMEM; anything but REPLAY_SAME is final. */
int replay_feed(struct replay *r, struct slice bytes, struct errmsg *err);

/* No more bytes.  A recording that was cut off is not bad: it says less. */
int replay_end(struct replay *r, struct replay_count *count_p, struct errmsg *err);

#endif
