/* streams.h - the standard streams of many processes through the three of one.
 *
 * Output: each process has a pipe for stdout and one for stderr.  A sink is one of our own two
 * streams (or a file); sources feed it.  Whole lines of different sources never cut into each
 * other: a piece without its newline is held back until the line is complete, the process ends, or
 * the line grows over LIMIT_STDIO_TAIL; then its source owns the sink, and the others wait, until
 * the line ends.  A source alone on its sink is passed through as it comes, byte for byte.  When
 * our reader does not read, we stop reading from those who write to that sink, and from nobody
 * else.
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
    bool own;             /* nobody shares the description, which does not block ... */
    bool reopened;        /* ... because we have opened it; then it is ours to close */
    bool regular;         /* a file: writing never blocks for long */
    bool broken;          /* it cannot be written any more: everything is dropped */
    int error;            /* why, as -errno; 0: nobody reads any more */
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

/* The label of the moment, with the source's arg; lives until the next call. */
typedef const char *label_fn(void *arg);

/* Sees what a source has read, and its end (empty).  Whether anybody besides the sink takes it:
 * then it goes on when nobody reads the sink any more. */
struct source;
typedef bool tap_fn(struct source *s, struct slice bytes);

/* Whether the first bytes of a source are to be held back: until more come, or it is closed. */
typedef bool hold_fn(struct slice bytes);

struct source {
    struct list link; /* in its sink */
    struct sink *sink;
    int fd; /* ours; -1: ended */
    struct watch watch;
    struct buf tail; /* a line without its end */
    tap_fn *tap;     /* may be NULL */
    label_fn *label; /* what stands before each line; NULL: nothing */
    hold_fn *hold;   /* may be NULL; its first bytes only are looked at */
    bool held;       /* the tail is such a line */
    bool labelled;   /* the current line has got it */
    bool prompts;    /* shows unfinished lines after a moment: somebody may be waiting for them */
    struct timer moment;
    loop_fn *on_end; /* the pipe is closed at the other end */
    void *arg;
};

/* fd stays the caller's.  scratch: STDIO_CHUNK bytes that live as long.  0 or -errno. */
int sink_open(struct sink *k, struct loop *l, int fd, char *scratch);
/* The same where fd does not block already and nobody else has it. */
int sink_open_own(struct sink *k, struct loop *l, int fd, char *scratch);
/* So many sources are to come (or, below 0, have come): lines of several are kept apart from the
 * first on. */
void sink_expect(struct sink *k, int n);
/* A line of our own among those of the sources; its newline is added if it has none. */
void sink_say(struct sink *k, struct slice text);
bool sink_idle(const struct sink *k); /* nothing is queued */
/* What is queued is given up, and nothing more is written. */
void sink_drop(struct sink *k);
/* Both descriptors are the same pipe, terminal or socket: what two sinks write there would cut each
 * other's lines, so it has to be one. */
bool sink_is_same(int one, int other);
/* Writes what is queued, waiting if need be, and lets go.  Sources must be closed before. */
void sink_close(struct sink *k);

/* fd becomes the source's.  on_end is called once, when the other end is closed and everything is
 * in the sink. */
int source_open(struct source *s, struct sink *k, int fd, label_fn *label, loop_fn *on_end,
                void *arg);
void source_catch_up(struct source *s); /* takes what is in the pipe now */
/* What is held back, or nothing, also after the end of the pipe; it is shown now; it is not to be
 * shown: whoever has asked will tell it. */
struct slice source_held(const struct source *s);
void source_show_held(struct source *s);
void source_drop_held(struct source *s);
/* Takes what is in the pipe now and closes it, whoever still holds the other end. */
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
    bool tty; /* what is typed there is ours only while we are in the foreground */
    struct watch watch;
    struct timer later;
    loop_fn *on_end; /* nobody takes input any more, or there is none; set after pump_open() */
    void *arg;
    struct pump_end *ends;
    uint32_t nends;
    char *chunk;
    size_t len;
};

/* Copies fd to each of the n descriptors, which become the pump's (non-blocking pipes), and closes
 * them at the end of the input.  0 or -errno. */
int pump_open(struct pump *p, struct loop *l, int fd, const int *ends, uint32_t n);
void pump_pause(struct pump *p, bool pause); /* while we are stopped in the background */
void pump_close(struct pump *p);             /* harmless twice, and on zeroed memory */

#endif
