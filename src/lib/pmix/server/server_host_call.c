/* server_host_call.c - see server_host_call.h.  The table is at the end. */
#include "lib/pmix/server/server_host_call.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io/journal.h"
#include "lib/pmix/values/value.h"
#include "wire/openmpi_help.h"
#include "wire/pmix_message.h"

#define MODULE(a) ((a)->s->module)

#define NEEDS(a, member)                                                                           \
    if (!MODULE(a).member)                                                                         \
    return PMIX_ERR_NOT_SUPPORTED

/* The items of the message pass to the ask. */
#define TAKE(items_p, n_p, list)                                                                   \
    (*(items_p) = (list).items, *(n_p) = (list).n, (list).items = NULL, (list).n = 0)

static void read_procs_infos(struct ask *a, struct punpack *r)
{
    struct pmsg_procs_infos m;

    pmsg_read_procs_infos(r, a->release, &m);
    TAKE(&a->procs, &a->nprocs, m.procs);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_procs_infos(&m, NULL);
}

static void read_only_infos(struct ask *a, struct punpack *r)
{
    struct pmsg_infos m;

    pmsg_read_infos(r, a->release, &m);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_infos(&m, NULL);
}

/* A text of the ask's own; NULL stays NULL. */
static void keep_text(struct ask *a, struct punpack *r, struct slice text)
{
    a->text = text.ptr ? strndup(text.ptr, text.len) : NULL;
    if (text.ptr && !a->text)
        r->error = PTYPE_NO_MEMORY;
}

static void read_abort(struct ask *a, struct punpack *r)
{
    struct pmsg_abort m;

    pmsg_read_abort(r, a->release, &m);
    a->status = m.code;
    keep_text(a, r, m.message);
    TAKE(&a->procs, &a->nprocs, m.procs);
    pmsg_free_abort(&m, NULL);
}

static pmix_status_t call_abort(struct ask *a)
{
    NEEDS(a, abort);
    return MODULE(a).abort(&a->from, a->object, a->status, a->text, a->procs, a->nprocs, ask_on_op,
                           a);
}

static void read_nothing(struct ask *a, struct punpack *r)
{
    (void)a;
    (void)r;
}

static pmix_status_t call_finalized(struct ask *a)
{
    if (!MODULE(a).client_finalized)
        return PMIX_OPERATION_SUCCEEDED;
    return MODULE(a).client_finalized(&a->from, a->object, ask_on_op, a);
}

/* The user id that the client claims is ignored. */
static void read_publish(struct ask *a, struct punpack *r)
{
    struct pmsg_publish m;

    pmsg_read_publish(r, a->release, &m);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_publish(&m, NULL);
}

static pmix_status_t call_publish(struct ask *a)
{
    NEEDS(a, publish);
    return MODULE(a).publish(&a->from, a->infos, a->ninfos, ask_on_op, a);
}

static void read_keys(struct ask *a, struct punpack *r)
{
    struct pmsg_keys m;

    pmsg_read_keys(r, a->release, &m);
    for (size_t i = 0; i < m.keys.n; i++) {
        struct slice s = m.keys.items[i];
        char *key = s.ptr ? strndup(s.ptr, s.len) : NULL;
        if (key)
            PMIx_Argv_append_nosize(&a->keys, key);
        free(key);
    }
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_keys(&m, NULL);
}

static pmix_status_t call_lookup(struct ask *a)
{
    NEEDS(a, lookup);
    return MODULE(a).lookup(&a->from, a->keys, a->infos, a->ninfos, ask_on_lookup, a);
}

static pmix_status_t call_unpublish(struct ask *a)
{
    NEEDS(a, unpublish);
    return MODULE(a).unpublish(&a->from, a->keys, a->infos, a->ninfos, ask_on_op, a);
}

static void read_spawn(struct ask *a, struct punpack *r)
{
    struct pmsg_spawn m;

    pmsg_read_spawn(r, a->release, &m);
    TAKE(&a->infos, &a->ninfos, m.infos);
    TAKE(&a->apps, &a->napps, m.apps);
    pmsg_free_spawn(&m, NULL);
}

static pmix_status_t call_spawn(struct ask *a)
{
    NEEDS(a, spawn);
    return MODULE(a).spawn(&a->from, a->infos, a->ninfos, a->apps, a->napps, ask_on_spawn, a);
}

static void read_query(struct ask *a, struct punpack *r)
{
    struct pmsg_query m;

    pmsg_read_query(r, a->release, &m);
    TAKE(&a->queries, &a->nqueries, m.queries);
    pmsg_free_query(&m, NULL);
}

static pmix_status_t call_query(struct ask *a)
{
    NEEDS(a, query);
    return MODULE(a).query(&a->from, a->queries, a->nqueries, ask_on_infos, a);
}

/* Tools that do not know this server's release send no time. */
static void read_log(struct ask *a, struct punpack *r)
{
    struct pmsg_log m;
    time_t when;

    pmsg_read_log(r, a->release, &m);
    when = PMSG_HAS(&m, log, time) ? m.time : time(NULL);
    TAKE(&a->infos, &a->ninfos, m.data);
    TAKE(&a->directives, &a->ndirectives, m.directives);
    pmsg_free_log(&m, NULL);
    ask_add_info(&a->directives, &a->ndirectives, PMIX_LOG_SOURCE, &a->from, PMIX_PROC);
    ask_add_info(&a->directives, &a->ndirectives, PMIX_LOG_TIMESTAMP, &when, PMIX_TIME);
}

/* The part of the info for one of the host's streams, as a text; false: none. */
static bool text_to_log(const pmix_info_t *info, struct slice *text_p)
{
    const pmix_value_t *v = &info->value;
    struct openmpi_help h;

    if (PMIx_Check_key(info->key, PMIX_LOG_MSG)) { /* Open MPI 4's help messages */
        if (v->type != PMIX_BYTE_OBJECT ||
            !openmpi_help_read(slice_mem(v->data.bo.bytes, v->data.bo.size), &h))
            return false;
        *text_p = h.text;
        return true;
    }
    *text_p = slice_str(v->type == PMIX_STRING ? v->data.string : NULL);
    return text_p->ptr && (PMIx_Check_key(info->key, PMIX_LOG_STDOUT) ||
                           PMIx_Check_key(info->key, PMIX_LOG_STDERR));
}

enum { PRIORITY_INFO = 6 }; /* of syslog */

static int priority_of(const struct ask *a)
{
    int32_t priority = PRIORITY_INFO;

    for (size_t i = 0; i < a->ndirectives; i++) {
        if (PMIx_Check_key(a->directives[i].key, PMIX_LOG_SYSLOG_PRI))
            PMIx_Value_get_number(&a->directives[i].value, &priority, PMIX_INT32);
    }
    return priority;
}

/* A gateway is where messages for a syslog go in the end. */
static bool log_to_syslog(const struct ask *a, const pmix_info_t *info)
{
    if (!a->s->is_gateway || info->value.type != PMIX_STRING || !info->value.data.string ||
        !(PMIx_Check_key(info->key, PMIX_LOG_SYSLOG) ||
          PMIx_Check_key(info->key, PMIX_LOG_LOCAL_SYSLOG) ||
          PMIx_Check_key(info->key, PMIX_LOG_GLOBAL_SYSLOG)))
        return false;
    journal_write(priority_of(a), slice_str(info->value.data.string));
    return true;
}

/* For a host without a log function: writes messages for its own streams there. */
static pmix_status_t log_here(const struct ask *a)
{
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;

    for (size_t i = 0; i < a->ndirectives; i++) {
        if (a->directives[i].flags & PMIX_INFO_REQD) /* directives are ignored */
            return PMIX_ERR_NOT_SUPPORTED;
    }
    for (size_t i = 0; i < a->ninfos; i++) {
        bool out = PMIx_Check_key(a->infos[i].key, PMIX_LOG_STDOUT);
        struct slice text;
        if (text_to_log(&a->infos[i], &text) &&
            (text.len == 0 || write(out ? STDOUT_FILENO : STDERR_FILENO, text.ptr, text.len) >= 0))
            rc = PMIX_OPERATION_SUCCEEDED;
        else if (log_to_syslog(a, &a->infos[i]))
            rc = PMIX_OPERATION_SUCCEEDED;
    }
    return rc;
}

static pmix_status_t call_log(struct ask *a)
{
    if (a->s->log2)
        return a->s->log2(&a->from, a->infos, a->ninfos, a->directives, a->ndirectives, ask_on_op,
                          a);
    if (!MODULE(a).log)
        return log_here(a);
    MODULE(a).log(&a->from, a->infos, a->ninfos, a->directives, a->ndirectives, ask_on_op, a);
    return PMIX_SUCCESS;
}

static void read_allocation(struct ask *a, struct punpack *r)
{
    struct pmsg_alloc m;

    pmsg_read_alloc(r, a->release, &m);
    a->number = m.directive;
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_alloc(&m, NULL);
}

static pmix_status_t call_allocation(struct ask *a)
{
    NEEDS(a, allocate);
    return MODULE(a).allocate(&a->from, (pmix_alloc_directive_t)a->number, a->infos, a->ninfos,
                              ask_on_infos, a);
}

static pmix_status_t call_control(struct ask *a)
{
    NEEDS(a, job_control);
    return MODULE(a).job_control(&a->from, a->procs, a->nprocs, a->infos, a->ninfos, ask_on_infos,
                                 a);
}

static void read_monitor(struct ask *a, struct punpack *r)
{
    struct pmsg_monitor m;

    pmsg_read_monitor(r, a->release, &m);
    a->status = m.error;
    TAKE(&a->directives, &a->ndirectives, m.infos);
    a->infos = calloc(1, sizeof *a->infos);
    if (a->infos) {
        *a->infos = m.monitor;
        a->ninfos = 1;
        m.has &= ~PMSG_BIT(monitor, monitor);
    } else {
        r->error = PTYPE_NO_MEMORY;
    }
    pmsg_free_monitor(&m, NULL);
}

static pmix_status_t call_monitor(struct ask *a)
{
    NEEDS(a, monitor);
    return MODULE(a).monitor(&a->from, a->infos, a->status, a->directives, a->ndirectives,
                             ask_on_infos, a);
}

static pmix_status_t call_get_credential(struct ask *a)
{
    NEEDS(a, get_credential);
    return MODULE(a).get_credential(&a->from, a->infos, a->ninfos, ask_on_credential, a);
}

static void keep_bytes(struct ask *a, struct slice bytes)
{
    a->has_bytes = true;
    a->bytes.bytes = bytes.len ? malloc(bytes.len) : NULL;
    if (a->bytes.bytes)
        memcpy(a->bytes.bytes, bytes.ptr, bytes.len);
    a->bytes.size = a->bytes.bytes ? bytes.len : 0;
}

static void read_validation(struct ask *a, struct punpack *r)
{
    struct pmsg_validate m;

    pmsg_read_validate(r, a->release, &m);
    keep_bytes(a, m.credential);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_validate(&m, NULL);
}

static pmix_status_t call_validate(struct ask *a)
{
    NEEDS(a, validate_credential);
    return MODULE(a).validate_credential(&a->from, &a->bytes, a->infos, a->ninfos,
                                         ask_on_validation, a);
}

static void read_pull(struct ask *a, struct punpack *r)
{
    struct pmsg_iof_pull m;

    pmsg_read_iof_pull(r, a->release, &m);
    TAKE(&a->procs, &a->nprocs, m.procs);
    TAKE(&a->infos, &a->ninfos, m.infos);
    a->status = m.channels;
    a->number = m.ref;
    pmsg_free_iof_pull(&m, NULL);
}

/* What the host delivers goes to its own handlers in any case. */
static bool is_own(const struct ask *a)
{
    return PMIx_Check_procid(&a->from, &a->s->me);
}

static pmix_status_t call_pull(struct ask *a)
{
    if (!MODULE(a).iof_pull && is_own(a))
        return PMIX_OPERATION_SUCCEEDED;
    NEEDS(a, iof_pull);
    return MODULE(a).iof_pull(a->procs, a->nprocs, a->infos, a->ninfos,
                              (pmix_iof_channel_t)a->status, ask_on_op, a);
}

static void read_push(struct ask *a, struct punpack *r)
{
    struct pmsg_iof_push m;

    pmsg_read_iof_push(r, a->release, &m);
    TAKE(&a->procs, &a->nprocs, m.procs);
    TAKE(&a->infos, &a->ninfos, m.infos);
    if (PMSG_HAS(&m, iof_push, bytes))
        keep_bytes(a, m.bytes);
    pmsg_free_iof_push(&m, NULL);
}

static pmix_status_t call_push(struct ask *a)
{
    NEEDS(a, push_stdin);
    return MODULE(a).push_stdin(&a->from, a->procs, a->nprocs, a->infos, a->ninfos,
                                a->has_bytes ? &a->bytes : NULL, ask_on_op, a);
}

static void read_unpull(struct ask *a, struct punpack *r)
{
    struct pmsg_iof_dereg m;

    pmsg_read_iof_dereg(r, a->release, &m);
    TAKE(&a->infos, &a->ninfos, m.infos);
    a->number = m.ref;
    pmsg_free_iof_dereg(&m, NULL);
}

static pmix_status_t call_unpull(struct ask *a)
{
    if (!MODULE(a).iof_pull && is_own(a))
        return PMIX_OPERATION_SUCCEEDED;
    NEEDS(a, iof_pull);
    ask_add_info(&a->infos, &a->ninfos, PMIX_IOF_STOP, NULL, PMIX_BOOL);
    return MODULE(a).iof_pull(NULL, 0, a->infos, a->ninfos, PMIX_FWD_NO_CHANNELS, ask_on_op, a);
}

static pmix_status_t call_fabric(struct ask *a, pmix_fabric_operation_t op)
{
    NEEDS(a, fabric);
    return MODULE(a).fabric(&a->from, op, a->infos, a->ninfos, ask_on_infos, a);
}

static pmix_status_t call_fabric_register(struct ask *a)
{
    return call_fabric(a, PMIX_FABRIC_REQUEST_INFO);
}

static void read_fabric_update(struct ask *a, struct punpack *r)
{
    struct pmsg_fabric_update m;

    pmsg_read_fabric_update(r, a->release, &m);
    ask_add_info(&a->infos, &a->ninfos, PMIX_FABRIC_INDEX, &m.index, PMIX_SIZE);
}

static pmix_status_t call_fabric_update(struct ask *a)
{
    return call_fabric(a, PMIX_FABRIC_UPDATE_INFO);
}

static void read_session(struct ask *a, struct punpack *r)
{
    struct pmsg_session_control m;

    pmsg_read_session_control(r, a->release, &m);
    a->number = m.session;
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_session_control(&m, NULL);
}

static pmix_status_t call_session(struct ask *a)
{
    NEEDS(a, session_control);
    return MODULE(a).session_control(&a->from, (uint32_t)a->number, a->infos, a->ninfos,
                                     ask_on_infos, a);
}

static void read_block(struct ask *a, struct punpack *r)
{
    struct pmsg_resource_block m;

    pmsg_read_resource_block(r, a->release, &m);
    a->number = m.directive;
    keep_text(a, r, m.block);
    TAKE(&a->units, &a->nunits, m.units);
    TAKE(&a->infos, &a->ninfos, m.infos);
    pmsg_free_resource_block(&m, NULL);
}

static pmix_status_t call_block(struct ask *a)
{
    if (!a->s->resource_block)
        return PMIX_ERR_NOT_SUPPORTED;
    return a->s->resource_block(&a->from, (pmix_resource_block_directive_t)a->number, a->text,
                                a->units, a->nunits, a->infos, a->ninfos, ask_on_op, a);
}

static const struct ask_kind kinds[] = {
    [CMD_ABORT] = { read_abort, call_abort },
    [CMD_FINALIZE] = { read_nothing, call_finalized },
    [CMD_PUBLISH] = { read_publish, call_publish },
    [CMD_LOOKUP] = { read_keys, call_lookup },
    [CMD_UNPUBLISH] = { read_keys, call_unpublish },
    [CMD_SPAWN] = { read_spawn, call_spawn },
    [CMD_QUERY] = { read_query, call_query },
    [CMD_LOG] = { read_log, call_log },
    [CMD_ALLOC] = { read_allocation, call_allocation },
    [CMD_JOB_CONTROL] = { read_procs_infos, call_control },
    [CMD_MONITOR] = { read_monitor, call_monitor },
    [CMD_GET_CREDENTIAL] = { read_only_infos, call_get_credential },
    [CMD_VALIDATE_CREDENTIAL] = { read_validation, call_validate },
    [CMD_IOF_PULL] = { read_pull, call_pull },
    [CMD_IOF_PUSH] = { read_push, call_push },
    [CMD_IOF_DEREG] = { read_unpull, call_unpull },
    [CMD_FABRIC_REGISTER] = { read_only_infos, call_fabric_register },
    [CMD_FABRIC_UPDATE] = { read_fabric_update, call_fabric_update },
    [CMD_RESOURCE_BLOCK] = { read_block, call_block },
    [CMD_SESSION_CONTROL] = { read_session, call_session },
};

const struct ask_kind *host_call_of(unsigned command)
{
    return &kinds[command];
}

/* The name service and queries are handled here when the host does not offer them. */
uint64_t host_call_mask(const struct pserver *s)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool ours =
            ((i == CMD_PUBLISH || i == CMD_LOOKUP || i == CMD_UNPUBLISH) && !s->module.publish) ||
            (i == CMD_QUERY && !s->module.query);
        if (kinds[i].call && !ours)
            mask |= UINT64_C(1) << i;
    }
    return mask;
}
