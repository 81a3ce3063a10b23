/* trace_set.h - the traces of one job: the launcher's file, and those of the other nodes beside it.
 *
 * The launcher's trace FILE names the nodes of its jobs; the trace of another one is FILE.NODE.
 * How far its clock is ahead of the launcher's is known within bounds: the node has asked the
 * launcher for the time (RECORD_clock).  Without such records (older traces) the system's time, as
 * both traces begin, is believed.
 *
 * A trace that is no launcher's, standard input and pipes are a set of one.
 */
#ifndef WIREUP_TOOLS_TRACE_SET_H
#define WIREUP_TOOLS_TRACE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/log.h"

struct record;

/* What a trace says of its clock. */
struct trace_clock {
    uint64_t begin_ns, wall_ns; /* of its first record, by its two clocks */
    int64_t least, most;        /* how far it is ahead of the launcher's; least > most: not known */
};

struct trace_member {
    const char *node, *path;
    bool missing; /* the file cannot be read */
};

struct trace_set {
    const struct log *log;
    const char *path;
    struct arena arena;
    struct trace_member *members; /* the first is the launcher's, or the only one */
    uint32_t n, room;
    bool alone;                  /* not a file that can be read twice: others are not looked for */
    bool is_launcher, is_masked; /* is_masked: credentials are overwritten in the first one */
};

/* The set has its first member.  0 or -ENOMEM. */
int trace_set_init(struct trace_set *s, const struct log *log, const char *path);
void trace_set_free(struct trace_set *s); /* harmless twice */

/* A record of the first member: nodes of jobs become members.  0 or -ENOMEM. */
int trace_set_take(struct trace_set *s, const struct record *r);

/* Reads the first member for that, as far as it can be read, without a word about it. */
void trace_set_scan(struct trace_set *s);

/* Looks whether the files of the members that are missing have come. */
void trace_set_look(struct trace_set *s);

/* One warning about those that are missing. */
void trace_set_warn(const struct trace_set *s);

#define TRACE_CLOCK_NULL ((struct trace_clock){ 0, 0, INT64_MIN, INT64_MAX })

/* A record of the trace that the clock is of. */
void trace_clock_take(struct trace_clock *c, const struct record *r);

/* From the beginning of a regular file. */
void trace_clock_scan(struct trace_clock *c, const char *path);

/* How far it is ahead of the launcher's, and the possible error (UINT64_MAX: not known). */
int64_t trace_clock_ahead(const struct trace_clock *c, const struct trace_clock *launcher,
                          uint64_t *within_p);

#endif
