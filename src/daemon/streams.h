/* streams.h - standard input, output and error of daemons, as channels between them and the
 * launcher.
 *
 * A daemon's own streams become pipes (streams_divert()), so that the output of it and its
 * processes goes through a channel; the launcher has the other end of each, and shows the bytes
 * like its own processes' output.
 */
#ifndef WIREUP_DAEMON_STREAMS_H
#define WIREUP_DAEMON_STREAMS_H

#include "io/streams.h"
#include "cluster/msg_address.h"
#include "daemon/channel.h"

enum stream { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAM_KINDS };

/* Those of one daemon. */
struct stream_set {
    struct channel channels[STREAM_KINDS];
    struct source sources[STREAM_KINDS]; /* launcher: the data of out and err ... */
    bool awaited[STREAM_KINDS];          /* ... once there is some; most daemons write nothing */
};

struct cluster_io;

struct streams {
    struct cluster_io *cluster; /* NULL: not open */
    void (*on_over)(void *cluster);
    struct stream_set *sets;
    uint32_t count;              /* launcher: all positions; a daemon: 1, its own */
    uint32_t used;               /* so many of the sets; the memory of the others is untouched */
    int pipe_ends[STREAM_KINDS]; /* a daemon: the other ends of its pipes until the channels are
                                    open */
};

/* far: from streams_divert(); NULL: the launcher.  on_over: a stream has ended; perhaps all have
 * (streams_over()).  0 or -ENOMEM. */
int streams_open(struct streams *t, struct cluster_io *s, const int pipe_ends[STREAM_KINDS],
                 void (*on_over)(void *cluster));
void streams_close(struct streams *t); /* harmless twice, and on zeroed memory */

/* A daemon, before its node exists: turns standard input, output and error into pipes whose other
 * ends go to far, for streams_open().  0 or -errno. */
int streams_divert(int pipe_ends[STREAM_KINDS]);
/* A daemon has linked: the contents of the pipes can be sent. */
void streams_flow(struct streams *t);
/* A daemon: nothing more will be written.  Sends the rest of the pipes, and EOF, to the
 * launcher. */
void streams_end(struct streams *t);

/* Launcher: that daemon is up, and its output is shown. */
void streams_show(struct streams *t, uint32_t position);
/* Launcher: the write end of a pipe to the standard input of that daemon; or -errno. */
int streams_stdin(struct streams *t, uint32_t position);
/* Launcher: that daemon is lost. */
void streams_cut(struct streams *t, uint32_t position);

/* MSG_data, MSG_window_update and MSG_unread. */
void streams_receive(struct streams *t, const struct msg *m);

/* All output has arrived, or is lost. */
bool streams_over(const struct streams *t);

#endif
