/* streams.h - the standard streams of many processes, forwarded through those of one.
 *
 * Output: each process has a pipe for stdout and one for stderr.  A sink is one of our own two
 * streams (or a file); sources feed it.  Whole lines of different sources never cut into each
 * other: a piece without its newline is held back until the line is complete, the process ends, or
 * the line grows over LIMIT_STDIO_TAIL; then its source owns the sink until the line ends, and the
 * others wait.  A source alone on its sink is passed through as it comes, byte for byte, and so is
 * a raw source: it cuts into the lines of others.  If our reader does not read, we stop reading
 * from the sources of that sink, and from no others.
 *
 * Input: one pump copies our stdin to one process, or to all.
 */
#ifndef WIREUP_IO_STREAMS_H
#define WIREUP_IO_STREAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/list.h"
#include "io/loop.h"

/* ---- output ---------------------------------------------------------------------------------- */

struct source;

struct sink {
    struct loop *loop;
    int fd;               /* where it goes */
    bool own;             /* the description is not shared, and non-blocking ... */
    bool reopened;        /* ... because we have opened it; then it is ours to close */
    bool regular;         /* a file: writing never blocks for long */
    bool raw;             /* set by the host: some of its relays bring raw output */
    bool broken;          /* it cannot be written any more: everything is dropped */
    int error;            /* why, as -errno; 0: no reader any more */
    bool full;            /* the sources are stopped */
    bool midline;         /* the last byte written was no newline ... */
    const void *last;     /* ... and came from this source; the sink itself: from one that ended */
    struct source *owner; /* in the middle of an over-long or a prompted line */
    struct list sources;
    uint32_t nsources;
    struct buf queue;
    struct watch watch;
    struct timer patience;           /* how long an owner may be silent while others wait */
    uint32_t patience_ms, moment_ms; /* set by sink_open() */
    loop_fn *on_idle;                /* the queue has become empty; may be NULL */
    void *arg;
    char *scratch; /* shared by all sinks of a host: STDIO_CHUNK bytes */
};

enum { STDIO_CHUNK = 64 << 10 };

/* The current label, with the source's arg; lives until the next call. */
typedef const char *label_fn(void *arg);

/* Appends a line, or a piece of one, as it is shown. */
typedef void shape_fn(struct source *s, struct slice line, struct buf *out);

/* Receives the bytes that a source has read, and its end (empty).  Returns whether anybody besides
 * the sink takes them: then the source goes on when nobody reads the sink any more. */
typedef bool tap_fn(struct source *s, struct slice bytes);

/* Whether the first bytes of a source are to be held back until more come, or it is closed. */
typedef bool hold_fn(struct slice bytes);

struct source {
    struct list link; /* in its sink */
    struct sink *sink;
    int fd; /* ours; -1: ended */
    struct watch watch;
    struct buf tail; /* a line without its end */
    tap_fn *tap;     /* may be NULL */
    label_fn *label; /* the prefix of each line; NULL: none */
    shape_fn *shape; /* what shows lines, instead of a label; NULL: as they are */
    hold_fn *hold;   /* may be NULL; only the first bytes are checked */
    bool held;       /* the tail is held back */
    bool labelled;   /* the current line has its label */
    bool redirected; /* set by the tap: the sink does not get what it has read */
    bool raw;        /* pieces of lines are shown as they come */
    bool relays;     /* brings the output of another node, which is raw if that sink says so */
    bool prompts;    /* shows unfinished lines after a moment: they may be prompts */
    struct timer moment;
    loop_fn *on_end; /* the pipe is closed at the other end */
    void *arg;
};

/* fd stays the caller's.  scratch: STDIO_CHUNK bytes that live as long.  0 or -errno. */
int sink_open(struct sink *k, struct loop *l, int fd, char *scratch);
/* The same for an fd that is non-blocking already and not shared. */
int sink_open_own(struct sink *k, struct loop *l, int fd, char *scratch);
/* n more sources are expected (or, below 0, have come): lines of several sources are kept apart
 * from the first on. */
void sink_expect(struct sink *k, int n);
/* Writes a line of our own among those of the sources; adds a missing newline. */
void sink_print(struct sink *k, struct slice text);
bool sink_idle(const struct sink *k); /* nothing is queued */
/* Drops the queue; nothing more is written. */
void sink_drop(struct sink *k);
/* Lets go of where it went: what comes from now on is read and dropped, and whoever reads there
 * comes to the end.  Its sources go on. */
void sink_detach(struct sink *k);
/* Both descriptors are the same pipe, terminal or socket: the lines of two sinks would cut into
 * each other there, so they have to share one. */
bool sink_is_same(int one, int other);
/* Writes the queue, waiting if need be, and closes.  Sources must be closed before. */
void sink_close(struct sink *k);

/* fd becomes the source's.  on_end is called once, when the other end is closed and everything is
 * in the sink.  0; or -errno: it is not open, and fd is the caller's. */
int source_open(struct source *s, struct sink *k, int fd, label_fn *label, loop_fn *on_end,
                void *arg);
void source_catch_up(struct source *s); /* reads the present content of the pipe */
/* The bytes held back (may be empty), also after the end of the pipe; shows them now; or drops
 * them, since the caller reports them. */
struct slice source_held(const struct source *s);
void source_show_held(struct source *s);
void source_drop_held(struct source *s);
/* Reads the present content of the pipe and closes it, even if processes still hold the other end.
 */
void source_close(struct source *s); /* harmless twice, and on zeroed memory with fd -1 */

/* ---- input ----------------------------------------------------------------------------------- */

struct pump_end {
    int fd; /* ours; -1: closed */
    size_t sent;
    struct watch watch;
    struct pump *pump;
};

struct pump {
    struct loop *loop;
    int fd; /* the caller's */
    bool regular, eof, paused;
    bool tty; /* the terminal's input is ours only while we are in the foreground */
    struct watch watch;
    struct timer later;
    loop_fn *on_end; /* nobody takes input any more, or there is none; set after pump_open() */
    void *arg;
    struct pump_end *ends;
    uint32_t nends;
    char *chunk;
    size_t len;
};

/* Copies fd to each of the n descriptors (non-blocking pipes), which become the pump's, and closes
 * them at the end of the input.  0 or -errno. */
int pump_open(struct pump *p, struct loop *l, int fd, const int *ends, uint32_t n);
void pump_pause(struct pump *p, bool pause); /* while we are stopped in the background */
void pump_close(struct pump *p);             /* harmless twice, and on zeroed memory */

#endif
