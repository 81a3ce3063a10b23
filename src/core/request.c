/* request.c - see request.h. */
#include "core/request.h"

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
    case ANSWER_FAILED: return "failed";
    case ANSWER_NO_MEMORY: return "server_out_of_memory";
    }
    return "failed";
}
