/* tcpstore.h - the messages of PyTorch's TCPStore (proto/tcpstore.def).
 *
 * The reader trusts nothing, and looks at each part of a query once, however small the pieces in
 * which it comes.
 */
#ifndef WIREUP_WIRE_TCPSTORE_H
#define WIREUP_WIRE_TCPSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

#define TCPSTORE_MAGIC 0x3c85f7ceU

enum { TCPSTORE_READY = 0, TCPSTORE_NOT_READY = 1 };

enum tcpstore_id {
#define QUERY(id, name, V2, V1, args, reply) TCPSTORE_##id,
#include "proto/tcpstore.def"
    TCPSTORE_QUERIES
};

/* The forms of a query's arguments and of its reply, as in the table. */
const char *tcpstore_args(enum tcpstore_id id);
const char *tcpstore_reply(enum tcpstore_id id);

enum tcpstore_dialect { TCPSTORE_UNKNOWN, TCPSTORE_V1, TCPSTORE_V2 };

/* One direction of a connection, from its beginning; zeroed memory is the state before its first
 * byte. */
struct tcpstore_reader {
    enum tcpstore_dialect dialect;
    enum tcpstore_id id; /* of the query that is being read, and ... */
    bool begun, counted;
    size_t at;     /* ... how far it was read: so many bytes, ... */
    uint64_t left; /* ... so many repetitions remain, ... */
    unsigned part; /* ... this part of the repetition is next */
};

struct tcpstore_query {
    enum tcpstore_id id;
    struct slice args; /* whole, and within the limits */
    size_t len;        /* of the query */
};

enum { TCPSTORE_MORE = 0, TCPSTORE_WHOLE = 1, TCPSTORE_BAD = 2 };

/* The query at the beginning of the bytes, of which those of an earlier call that returned MORE are
 * the first. BAD: err names the fault. */
int tcpstore_read(struct tcpstore_reader *r, struct slice bytes, struct tcpstore_query *q_p,
                  struct errmsg *err);

/* Cut an argument off; false: there is none. */
bool tcpstore_get_bytes(struct slice *rest, struct slice *s_p);
bool tcpstore_get_number(struct slice *rest, int64_t *n_p);

/* A key without the slashes that PyTorch sets before it: one, or none in messages of our own. */
struct slice tcpstore_name(struct slice key);

/* A key of the processes' n-th attempt to meet: "/worker/attempt_N/..." behind such slashes.
 * PyTorch sets this before its own keys where the store outlives an attempt. */
bool tcpstore_attempt(struct slice key, uint32_t *n_p);

void tcpstore_put_bytes(struct buf *out, struct slice s);
void tcpstore_put_number(struct buf *out, int64_t n);

#endif
