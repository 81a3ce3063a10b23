/* joining.h - a node that nobody has started asks a launcher for its record (`wireupd --join`).
 *
 * The node calls; nobody calls it.  It may come before the launcher listens, before there are files
 * with its address and its token, and before its name is known: it tries again, after a moment that
 * differs from node to node, at most about LIMIT_JOIN_EARLY_MS in the first minute; later, and as
 * long as the launcher's name is not known, it doubles up to LIMIT_JOIN_RETRY_MS.  A file that is
 * written on this machine is looked at at once (io/file_change.h).  A launcher that has accepted
 * the link may let it wait until it is up itself.
 */
#ifndef WIREUP_DAEMON_JOINING_H
#define WIREUP_DAEMON_JOINING_H

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "daemon/join_request.h"

struct joining_config {
    const struct log *log;
    /* Of the launcher: IP:PORT, [IPv6]:PORT and NAME:PORT, separated by commas; or the path (with a
     * '/') of a file that has them. */
    const char *where;
    const char *token_file; /* NULL: the environment has the token (io/join_token.h) */
    /* A daemon that has lost its launcher (up -keep) knows the key of the token, and where the
     * launcher was: another one may be there, or in `where`, later than anything else.  NULL. */
    const unsigned char *key;
    const char *known;
    /* When control_fd is readable, ends() reads it, and says whether the search is over.  NULL:
     * nobody listens. */
    bool (*ends)(int control_fd);
    int control_fd;
    const struct join_request *request;
    uint32_t timeout_s; /* 0: as long as it takes */
    uint32_t pause_ms;  /* between tries; 0: as above */
};

enum { JOINING_REFUSED = 1, JOINING_LATE = 2, JOINING_ENDED = 3 };

/* Runs an event loop of its own until the launcher has answered.  The record is appended;
 * reached_p, of DAEMON_LINK_ADDRESS_TEXT bytes, gets the address at which the launcher was reached.
 * 0; JOINING_REFUSED, JOINING_LATE or JOINING_ENDED with a sentence; -errno with a sentence. */
int joining_ask(const struct joining_config *config, struct buf *record, char *reached_p,
                struct errmsg *err);

#endif
