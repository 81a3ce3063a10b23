/* request.c - see request.h. */
#include "core/request.h"

void request_drop(struct request *rq)
{
    if (rq->kind == REQ_spawn)
        rq->u.spawn.request = spawn_free(rq->u.spawn.request);
}

const char *request_word(enum request_kind kind)
{
    static const char *const words[REQ_KINDS] = {
#define REQUEST(id, word) [REQ_##id] = (word),
#define REQUEST_MEMBER(id, KIND, member)
#define REQUEST_DONE(id)
#define REQUEST_BARE(id, word) [REQ_##id] = (word),
#include "proto/requests.def"
    };

    return words[kind];
}

const char *answer_word(enum answer_status status)
{
    switch (status) {
    case ANSWER_OK: return "success";
    case ANSWER_LATER: return "pending";
    case ANSWER_NOT_FOUND: return "not_found";
    case ANSWER_DUPLICATE: return "already_present";
    case ANSWER_RESERVED: return "reserved_for_the_process_manager";
    case ANSWER_BAD_KEY: return "bad_key";
    case ANSWER_BAD_VALUE: return "bad_value";
    case ANSWER_OVER_QUOTA: return "over_quota";
    case ANSWER_TIMEOUT: return "timed_out";
    case ANSWER_DENIED: return "access_denied";
    case ANSWER_FAILED: return "failed";
    case ANSWER_NO_MEMORY: return "server_out_of_memory";
    case ANSWER_UNSUPPORTED: return "not_supported";
    case ANSWER_LOST: return "lost_connection";
    case ANSWER_RESTARTED: return "process_restarted";
    }
    return "failed";
}
