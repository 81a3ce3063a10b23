/* record_writer.h - where a trace is written (record.h), for those who hold it. */
#ifndef WIREUP_TRACE_RECORD_WRITER_H
#define WIREUP_TRACE_RECORD_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct record;

struct record_writer {
    bool begun;
    uint64_t last_ns;
};

/* Appends one record (and the first line before the first). A time before the last one is replaced
 * by that.  Running out of memory, or a record over LIMIT_TRACE_RECORD, poisons the buffer. */
void record_write(struct record_writer *w, const struct record *r, struct buf *out);

#endif
