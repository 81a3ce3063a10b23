/* trace_set.h - the traces of one job: the launcher's, and those of the other nodes.
 *
 * The launcher's trace FILE names the nodes of its jobs.  The trace of another one is in FILE, in
 * pieces (RECORD_section), which come at the end of the job; before, and when the launcher was
 * killed, it is FILE.NODE.  How far its clock is ahead of the launcher's is known within bounds:
 * the node has asked the launcher for the time (RECORD_clock).  Without such records (older traces)
 * the system's time, as both traces begin, is believed.
 *
 * A trace that is no launcher's, standard input and pipes are a set of one.
 */
#ifndef WIREUP_TOOLS_TRACE_SET_H
#define WIREUP_TOOLS_TRACE_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/log.h"

struct record;
struct record_reader;

/* What a trace says of its clock. */
struct trace_clock {
    uint64_t begin_ns, wall_ns; /* of its first record, by its two clocks */
    int64_t least, most;        /* how far it is ahead of the launcher's; least > most: not known */
};

/* Bytes of a member in the file of the first one. */
struct trace_piece {
    uint64_t at;
    size_t len;
};

struct trace_member {
    const char *node;
    const char *path; /* of a file of its own, which may not be there */
    const char *name; /* for messages */
    struct trace_piece *pieces;
    uint32_t npieces, room;
    bool inside;     /* it is read from its pieces */
    bool whole;      /* ... of which none is missing */
    bool missing;    /* it is nowhere */
    const char *why; /* why it is not whole, as the launcher says; NULL: it says nothing */
};

struct trace_set {
    const struct log *log;
    const char *path;
    struct arena arena;
    struct trace_member *members; /* the first is the launcher's, or the only one */
    uint32_t n, room;
    bool alone;                   /* not a file that can be read twice: others are not looked for */
    bool is_launcher, is_masked;  /* is_masked: credentials are overwritten in the first one */
    struct record_reader *reader; /* of the first one */
    int fd;                       /* ... up to here; -1: it has not been opened */
};

/* The set has its first member.  0 or -ENOMEM. */
int trace_set_init(struct trace_set *s, const struct log *log, const char *path);
void trace_set_free(struct trace_set *s); /* harmless twice */

/* Reads on in the first member, as far as it can be read, without a word about it: nodes of jobs
 * become members.  Then looks where the members are. */
void trace_set_scan(struct trace_set *s);

/* The member of this node; 0: none but the first. */
uint32_t trace_set_find(const struct trace_set *s, struct slice node);

/* One warning about those that are missing. */
void trace_set_warn(const struct trace_set *s);

/* ---- reading a member ------------------------------------------------------------------------ */

struct trace_input {
    const struct trace_set *set;
    uint32_t member;
    bool inside;
    int fd;
    uint32_t piece; /* the next one, or the one that is being read */
    size_t taken;   /* of it */
};

/* 0 or -errno. */
int trace_input_open(struct trace_input *in, const struct trace_set *s, uint32_t member);
void trace_input_close(struct trace_input *in); /* harmless twice, and with fd -1 */

/* As read(): 0 is the end for now. */
ssize_t trace_input_read(struct trace_input *in, void *to, size_t room);

/* Passes it to `take`, as trace_file_read() does with a file. */
int trace_set_pass(const struct trace_set *s, uint32_t member,
                   int (*take)(void *arg, struct slice bytes), void *arg);

/* ---- clocks ---------------------------------------------------------------------------------- */

#define TRACE_CLOCK_NULL ((struct trace_clock){ 0, 0, INT64_MIN, INT64_MAX })

/* A record of the trace that the clock is of. */
void trace_clock_take(struct trace_clock *c, const struct record *r);

/* From the beginning of a regular file, of a member. */
void trace_clock_scan(struct trace_clock *c, const char *path);
void trace_clock_scan_member(struct trace_clock *c, const struct trace_set *s, uint32_t member);

/* How far it is ahead of the launcher's, and the possible error (UINT64_MAX: not known). */
int64_t trace_clock_ahead(const struct trace_clock *c, const struct trace_clock *launcher,
                          uint64_t *within_p);

#endif
