/* trace_to_script.h - a trace as a script of the conversation tests (tests/conversation/script.h).
 *
 * The script repeats the bytes that the server received, and expects the messages of the server,
 * field by field.  Records that the scripts cannot express (neighbours, time limits) become
 * comments.
 */
#ifndef WIREUP_TRACE_TRACE_TO_SCRIPT_H
#define WIREUP_TRACE_TRACE_TO_SCRIPT_H

#include "trace/trace_reader.h"

struct trace_to_script {
    struct buf *out;
    struct buf job, presets; /* of a job whose first process has not been seen yet */
    bool has_job;
    uint32_t names[8]; /* numbers of jobs, for their letters */
    uint32_t njobs;
    const char **spoken; /* by connection: the protocol of its lines; NULL: PMI-1 */
    uint32_t nspoken;
};

void trace_to_script_init(struct trace_to_script *c, struct buf *out);
void trace_to_script_free(struct trace_to_script *c);

/* Callbacks of struct trace_reader_printer; arg is the struct trace_to_script. */
void trace_to_script_record(void *arg, const struct trace_reader_line *l, const struct record *r);
void trace_to_script_message(void *arg, const struct trace_reader_line *l, enum decode_way way,
                             const struct decoded *m, uint64_t time_ns);

#endif
