/* rights.c - see rights.h.  Every kind of request is listed: the compiler reports a new one. */
#include "session/rights.h"

#include "pmix_common.h"
#include "wire/pmix_command.h"

/* Of the commands for the host, finalize and abort are always allowed. */
static bool host_needs(int64_t command)
{
    return command != CMD_FINALIZE && command != CMD_ABORT;
}

/* Every other range may reach the user's other jobs. */
static bool stays_in_job(uint32_t range)
{
    return range == PMIX_RANGE_NAMESPACE || range == PMIX_RANGE_PROC_LOCAL;
}

bool rights_needed(const struct request *rq)
{
    switch (rq->kind) {
    case REQ_SPAWN:            /* programs */
    case REQ_SIGNAL:           /* the end of others */
    case REQ_REGISTER_CLEANUP: /* files */
    case REQ_INPUT:            /* input of other processes */
    case REQ_LISTEN:           /* output of other processes */
    case REQ_PUBLISH:          /* names that the user's launchers share */
    case REQ_UNPUBLISH:
    case REQ_LOOKUP:
    case REQ_CONNECT: return true;               /* other jobs */
    case REQ_CREDENTIAL: return rq->number == 0; /* a credential of the launcher's user */
    case REQ_LOG: return slice_is(rq->key, "syslog");
    case REQ_HOST: return host_needs(rq->number);
    case REQ_NOTIFY: return !stays_in_job((uint32_t)rq->count);
    case REQ_IDENTIFY:
    case REQ_ATTACH:
    case REQ_PUT:
    case REQ_PUT_MANY:
    case REQ_GET:
    case REQ_GET_INDEX:
    case REQ_KVS_CREATE:
    case REQ_KVS_DELETE:
    case REQ_FENCE:
    case REQ_NODE_PUT:
    case REQ_NODE_GET:
    case REQ_JOB_ATTR:
    case REQ_RING:
    case REQ_DISCONNECT:
    case REQ_COMMIT:
    case REQ_GET_CARD:
    case REQ_MEET:
    case REQ_RECALL:
    case REQ_MONITOR:
    case REQ_BEAT:
    case REQ_FINALIZE:
    case REQ_ABORT: return false;
    }
    return true;
}
