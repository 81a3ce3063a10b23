/* core_call.h - one request while the core works on it. */
#ifndef WIREUP_CORE_CORE_CALL_H
#define WIREUP_CORE_CORE_CALL_H

#include "core/core.h"
#include "core/request.h"

struct core_call {
    struct core *core;
    struct job *job;
    uint32_t rank;
    uint64_t ticket;
    const struct request *rq;
    uint64_t now_ns;
    struct answer *a;
};

/* When the requester's time-out (0: none) passes. */
static inline uint64_t core_call_deadline(const struct core_call *k, uint64_t timeout_ns)
{
    return timeout_ns ? k->now_ns + timeout_ns : UINT64_MAX;
}

#endif
