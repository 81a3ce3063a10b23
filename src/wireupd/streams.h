/* streams.h - standard input, output and error of daemons, as channels between them and the
 * launcher.
 *
 * A daemon's own streams become pipes (streams_divert()), so that what it and its processes write
 * goes by a channel like anything else; the launcher has the other end of each, and shows what
 * comes as it shows its own processes' output.
 */
#ifndef WIREUP_WIREUPD_STREAMS_H
#define WIREUP_WIREUPD_STREAMS_H

#include "io/streams.h"
#include "overlay/msg.h"
#include "wireupd/channel.h"

enum stream { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAM_KINDS };

/* Those of one daemon. */
struct stream_set {
    struct channel channels[STREAM_KINDS];
    struct source sources[STREAM_KINDS]; /* launcher: what comes out of out and err ... */
    bool awaited[STREAM_KINDS];          /* ... once there is something; most write nothing */
};

struct multinode;

struct streams {
    struct multinode *multinode; /* NULL: not open */
    struct stream_set *sets;
    uint32_t count;        /* launcher: all positions; a daemon: 1, its own */
    int far[STREAM_KINDS]; /* a daemon: the other ends of its own until they are open */
};

/* far: of streams_divert(); NULL: the launcher.  0 or -ENOMEM. */
int streams_open(struct streams *t, struct multinode *s, const int far[STREAM_KINDS]);
void streams_close(struct streams *t); /* harmless twice, and on zeroed memory */

/* A daemon, before its node exists: standard input, output and error become pipes whose other ends
 * go to far, for streams_open().  0 or -errno. */
int streams_divert(int far[STREAM_KINDS]);
/* A daemon has linked: what stands in the pipes has a way to go. */
void streams_flow(struct streams *t);
/* A daemon: nobody writes any more.  What stands in the pipes goes to the launcher, and their end.
 */
void streams_end(struct streams *t);

/* Launcher: that daemon is there, and what it writes is shown. */
void streams_show(struct streams *t, uint32_t position);
/* Launcher: the end of a pipe whose bytes become the standard input of that daemon; or -errno. */
int streams_stdin(struct streams *t, uint32_t position);
/* Launcher: that daemon is lost. */
void streams_cut(struct streams *t, uint32_t position);

/* MSG_data, MSG_window_update and MSG_unread. */
void streams_hear(struct streams *t, const struct msg *m);

/* All that was written has come out, or gone. */
bool streams_over(const struct streams *t);

#endif
