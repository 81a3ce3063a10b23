/* request.h - the requests of a process to its job, whichever protocol it speaks.
 *
 * A session turns messages into requests; the server passes them to the core and brings the answer
 * back; the session turns the answer into a message of its protocol.  Slices in a request belong to
 * the session and live until the answer or the next input, whichever comes first; slices in an
 * answer live until the call that delivers it returns.
 */
#ifndef WIREUP_CORE_REQUEST_H
#define WIREUP_CORE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "core/answer.h"
#include "core/operations.h"
#include "core/spawn.h"

enum request_kind {
#define REQUEST(id, word) REQ_##id,
#define REQUEST_MEMBER(id, KIND, member)
#define REQUEST_DONE(id)
#define REQUEST_BARE(id, word) REQ_##id,
#include "proto/requests.def"
    REQ_KINDS
};

/* ---- requests, from the table ---------------------------------------------------------------- */

/* struct request_put { struct slice space; ... } for each kind. */
#define REQUEST(id, word)                struct request_##id {
#define REQUEST_MEMBER(id, KIND, member) OPERATION_TYPE_##KIND member;
#define REQUEST_DONE(id)                                                                           \
    }                                                                                              \
    ;
#define REQUEST_BARE(id, word)
#include "proto/requests.def"

struct request {
    enum request_kind kind;
    uint32_t token; /* the session's own number, repeated in the answer */
    union {
#define REQUEST(id, word) struct request_##id id;
#define REQUEST_MEMBER(id, KIND, member)
#define REQUEST_DONE(id)
#define REQUEST_BARE(id, word)
#include "proto/requests.def"
    } u;
};

/* What of a monitored file has to change. */
enum { MONITOR_SIZE = 1, MONITOR_ACCESS = 2, MONITOR_MODIFY = 4 };

/* REQUEST_WITH(connect, .job = name): a request of this kind with these members. */
#define REQUEST_WITH(id, ...) ((struct request){ .kind = REQ_##id, .u.id = { __VA_ARGS__ } })

/* Frees the members that a request hands over; for one that nobody takes. */
void request_drop(struct request *rq);

/* The word for reports: "get by index". */
const char *request_word(enum request_kind kind);

#endif
