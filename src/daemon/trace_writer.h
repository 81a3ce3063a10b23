/* trace_writer.h - the trace of one node: its server's inputs and outputs, with the time, to a file
 * (--trace; the format is trace/record.h), without credentials (trace/mask.h).
 *
 * A trace that cannot go on (no memory, a full disk) ends with a warning; the job does not.
 */
#ifndef WIREUP_DAEMON_TRACE_WRITER_H
#define WIREUP_DAEMON_TRACE_WRITER_H

#include "base/err.h"
#include "base/log.h"
#include "io/async_writer.h"
#include "trace/mask.h"
#include "trace/record_writer.h"
#include "server/server.h"

struct trace_writer {
    struct async_writer file;
    struct trace_mask mask;
    struct record_writer writer;
    struct server *server; /* NULL: no trace */
    const struct log *log;
    const char *path;
};

#define TRACE_WRITER_NULL ((struct trace_writer){ .file = { .fd = -1 } })

/* Starts tracing the server.  0; TRACE_WRITER_BAD with a sentence: the file cannot be created. */
enum { TRACE_WRITER_BAD = 1 };
int trace_writer_open(struct trace_writer *t, struct server *s, struct loop *l, const char *path,
                      const char *node, const struct log *log, struct errmsg *err);

/* The launcher has told its clock, now, and was asked for it then (trace_clock.h); harmless without
 * a trace. */
void trace_writer_clock(struct trace_writer *t, uint64_t asked_ns, uint64_t answer_ns);

/* The daemon of a node is up, now (proto/record.def). */
void trace_writer_daemon(struct trace_writer *t, const char *host, uint64_t asked_ns,
                         uint64_t runs_ns);

/* Another node is lost, now; why: or NULL. */
void trace_writer_lost(struct trace_writer *t, const char *host, const char *why);

/* A piece of the trace of another node, or (whole, or why: no bytes) the end of it.  False: the
 * trace here has ended, by an error. */
bool trace_writer_section(struct trace_writer *t, const char *host, struct slice bytes, bool whole,
                          const char *why);

/* Writes the buffered records to the file now. */
void trace_writer_flush(struct trace_writer *t);

/* Completes the trace; harmless twice. */
void trace_writer_close(struct trace_writer *t);

#endif
