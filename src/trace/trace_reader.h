/* trace_reader.h - reads a trace in order: decoded messages, and everything else that happened.
 *
 * Reads the records, keeps the connections apart, knows their owners, and passes everything to
 * callbacks that write it: as text, as JSON, as a script.  Sans-IO.
 */
#ifndef WIREUP_TRACE_TRACE_READER_H
#define WIREUP_TRACE_TRACE_READER_H

#include "base/list.h"
#include "base/map.h"
#include "trace/decode.h"
#include "trace/record_reader.h"

struct record;

/* A connection. */
struct trace_reader_line {
    struct list link;
    uint32_t number;
    int64_t job; /* -1: not known yet */
    uint32_t rank;
    bool hung_up;
    bool dialled; /* it had to identify itself */
    struct decode decode;
};

struct trace_reader_printer {
    /* Line NULL: the record is about no connection.  Records of bytes come before their messages.
     */
    void (*record)(void *arg, const struct trace_reader_line *l, const struct record *r);
    void (*message)(void *arg, const struct trace_reader_line *l, enum decode_way way,
                    const struct decoded *m, uint64_t time_ns);
    void *arg;
};

struct trace_reader {
    struct trace_reader_printer printer;
    struct record_reader reader;
    struct list lines;
    struct map by_number;
    /* The first bytes of a connection that identifies itself: its owner is known with the next
     * record. */
    struct trace_reader_line *asked;
    struct buf words;
    uint64_t words_ns;
    bool begun, ended; /* the first, the last record has been read */
};

void trace_reader_init(struct trace_reader *s, struct trace_reader_printer printer);
void trace_reader_free(struct trace_reader *s);

enum { TRACE_READER_BAD = 1 };

/* The next bytes of the trace.  0; TRACE_READER_BAD with a sentence; -ENOMEM. */
int trace_reader_feed(struct trace_reader *s, struct slice bytes, struct errmsg *err);

/* No more bytes: incomplete messages are passed on.  The same results. */
int trace_reader_end(struct trace_reader *s, struct errmsg *err);

#endif
