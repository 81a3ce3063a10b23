/* link.h - a client library's connection to its process manager: sends bytes, receives lines and
 * bytes.
 *
 * Blocking, in the caller's thread; no threads and no signals (a lost peer is -EPIPE, never
 * SIGPIPE, even when the descriptor is no socket).  A descriptor that arrives with the bytes is
 * kept for link_take_fd.  Not locked: only the holder of the connection (lock.h) uses it.
 *
 * After an error the link stays broken: every later call returns -EPIPE, since replies can no
 * longer be matched to requests.
 */
#ifndef WIREUP_LIB_COMMON_LINK_H
#define WIREUP_LIB_COMMON_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "lib/common/env.h"

struct link {
    int fd;         /* -1: none */
    bool ours;      /* opened by us, so closed by us */
    bool no_socket; /* a pipe or a terminal: plain read and write */
    bool broken;
    int fd_flags; /* flags of an inherited descriptor as found; -1: not changed */
    int passed;   /* a descriptor received and not yet taken, or -1 */
    struct buf in;
    size_t lent; /* bytes at the front of `in` that the caller still uses */
};

#define LINK_NULL ((struct link){ -1, false, false, false, -1, -1, BUF_NULL(0), 0 })

/* The same for a descriptor of our own: link_close closes it, and so does a failure. */
int link_open_own_fd(struct link *l, int fd);

/* Opens the descriptor or the port that the environment names.  0; -ENOMEM; other -errno.  err
 * has a sentence. */
int link_open_env(struct link *l, const struct client_env *env, struct errmsg *err);

/* Leaves an inherited descriptor open and with its old flags, closes our own; idempotent. */
void link_close(struct link *l);

/* 0; -EPIPE: the peer is gone; other -errno. */
int link_send(struct link *l, struct slice bytes);

/* Sends while another thread may be receiving (not sending): a final message whose result is
 * ignored.
 */
void link_send_aside(const struct link *l, struct slice bytes);

/* The next line without its newline (and without a CR before it), or the next n bytes.  The slice
 * lives until the next call.  0; -EPIPE: the peer is gone; -EMSGSIZE: no newline within
 * LIMIT_PMI_LINE, or n over LIMIT_STORE_VALUE; -ENOMEM; other -errno. */
int link_line(struct link *l, struct slice *line_p);
int link_bytes(struct link *l, size_t n, struct slice *bytes_p);

/* A whole line has been received already: link_line() will not wait. */
bool link_has_line(const struct link *l);

/* The received descriptor, now the caller's; -1: none. */
int link_take_fd(struct link *l);

#endif
