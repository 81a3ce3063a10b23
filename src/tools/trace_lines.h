/* trace_lines.h - the lines that `wireup trace` prints of one trace, and which of its records and
 * messages are wanted.
 *
 * Lines are kept with their times until they are taken, so that those of several traces can be
 * merged (trace_merge.h).
 */
#ifndef WIREUP_TOOLS_TRACE_LINES_H
#define WIREUP_TOOLS_TRACE_LINES_H

#include "base/buf.h"
#include "tools/command.h"
#include "trace/trace_reader.h"

struct trace_range {
    int64_t job;
    uint32_t first, last;
};

/* What is printed of all traces, and how. */
struct trace_filter {
    bool json, all;
    struct slice commands, keys, nodes; /* separated by commas; empty: all */
    struct trace_range *ranges;
    uint32_t nranges;
    uint64_t from_ns, to_ns;
    int width; /* of the column of nodes; 0: there is none, because there is one trace */
};

/* False, after a message: a choice is wrong. */
bool trace_filter_read(struct trace_filter *f, const struct command_line *l);
void trace_filter_free(struct trace_filter *f);

/* A whole line. */
struct trace_mark {
    int64_t ns; /* since the launcher's trace began, by its clock */
    size_t len;
};

struct trace_lines {
    const struct trace_filter *filter;
    const char *node;
    uint64_t begin_ns; /* when the launcher's trace began, by the clock of this one */
    bool is_first;     /* it is the launcher's */
    struct buf out;
    struct trace_mark *marks;
    uint32_t nmarks, room, taken;
    size_t line_begun; /* of the line that is being written */
    uint64_t line_ns;
    bool no_memory;
};

void trace_lines_init(struct trace_lines *t, const struct trace_filter *f, const char *node);
void trace_lines_free(struct trace_lines *t);

/* The callbacks that write them. */
struct trace_reader_printer trace_lines_printer(struct trace_lines *t);

/* A line about the clock of this trace, before all others. */
void trace_lines_clock(struct trace_lines *t, int64_t ahead_ns, uint64_t within_ns);

/* The first line that has not been taken, and its time; empty: there is none. */
struct slice trace_lines_first(const struct trace_lines *t, int64_t *ns_p);
void trace_lines_take(struct trace_lines *t);

#endif
