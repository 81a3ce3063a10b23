/* rights.c - see rights.h.  Every kind of request is listed: the compiler reports a new one. */
#include "server/rights.h"

#include <string.h>

#include "core/control.h"
#include "core/request.h"
#include "pmix_common.h"
#include "wire/pmix_command.h"

/* Of the commands for the host, finalize and abort are always allowed. */
static bool host_needs(uint8_t command)
{
    return command != CMD_FINALIZE && command != CMD_ABORT;
}

/* Every other range may reach the user's other jobs. */
static bool stays_in_job(uint32_t range)
{
    return range == PMIX_RANGE_NAMESPACE || range == PMIX_RANGE_PROC_LOCAL;
}

/* Some key of a block may register files; a value with these bytes is refused with it. */
static bool names_cleanup(struct slice records)
{
    return records.len && memmem(records.ptr, records.len, CLEANUP_KEY, strlen(CLEANUP_KEY));
}

bool rights_needed(const struct request *rq)
{
    switch (rq->kind) {
    case REQ_spawn:            /* programs */
    case REQ_signal:           /* the end of others */
    case REQ_define_pset:      /* sets that all jobs see */
    case REQ_register_cleanup: /* files */
    case REQ_cancel_cleanup:
    case REQ_input:    /* input of other processes */
    case REQ_iof_pull: /* output of other processes */
    case REQ_publish:  /* names that the user's launchers share */
    case REQ_unpublish:
    case REQ_lookup:
    case REQ_allocate:             /* nodes */
    case REQ_scheduled:            /* those of others */
    case REQ_connect: return true; /* other jobs */
    case REQ_credential:
        return !rq->u.credential.validate; /* a credential of the launcher's user */
    case REQ_log:
        return slice_is(rq->u.log.channel, "syslog") ||
               slice_is(rq->u.log.channel, "global syslog");
    case REQ_host: return host_needs(rq->u.host.command);
    case REQ_notify: return !stays_in_job(rq->u.notify.range);
    case REQ_monitor: /* of a file: whether it is there is not for everybody */
        return rq->u.monitor.watches ||
               (rq->u.monitor.period_ns && !stays_in_job(rq->u.monitor.range));
    case REQ_store:
    case REQ_identify:
    case REQ_attach:
    case REQ_get:
    case REQ_get_index:
    case REQ_kvs_create:
    case REQ_kvs_delete:
    case REQ_fence:
    case REQ_node_get:
    case REQ_job_attr:
    case REQ_ring:
    case REQ_disconnect:
    case REQ_commit:
    case REQ_modex_get:
    case REQ_collective:
    case REQ_group_bootstrap:
    case REQ_node_parts: /* the reply leaves out other jobs */
    case REQ_recall:
    case REQ_forget:
    case REQ_beat:
    case REQ_finalize:
    case REQ_switch_version: return false;
    case REQ_put: return control_is_cleanup_key(rq->u.put.key);
    case REQ_node_put: return control_is_cleanup_key(rq->u.node_put.key);
    case REQ_put_many: return names_cleanup(rq->u.put_many.records);
    case REQ_abort: return rq->u.abort.count > 0; /* the end of others, but for the own job */
    case REQ_KINDS: break;
    }
    return true;
}
