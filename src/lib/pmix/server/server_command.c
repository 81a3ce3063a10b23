/* server_command.c - see server_command.h.  Reading order: commands by their numbers; events; files
 * to be cleaned up; entry point. */
#include "lib/pmix/server/server_command.h"

#include <stdlib.h>
#include <string.h>

#include "core/request.h"
#include "lib/pmix/server/server_admission.h"
#include "lib/pmix/server/server_cleanup.h"
#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_forget.h"
#include "lib/pmix/server/server_host_call.h"
#include "lib/pmix/server/server_identity.h"
#include "lib/pmix/server/server_infos.h"
#include "lib/pmix/server/server_inventory.h"
#include "lib/pmix/server/server_iof.h"
#include "lib/pmix/server/server_plain.h"
#include "lib/pmix/server/server_space.h"
#include "server/pmix.h"
#include "wire/pmix_message.h"

/* The host only gets requests of processes that it has registered. */
static bool is_client(const struct pserver *s, const struct peer *p)
{
    const struct nspace *n = nspace_of(s, p->job);

    return n && !n->is_own && !n->is_tool;
}

/* ---- commands by their numbers --------------------------------------------------------------- */

/* A tool gets its children's output unless it declines; others only on request. */
static void follow_children(struct ask *a, bool is_tool)
{
    static const struct {
        const char *key;
        pmix_iof_channel_t channel;
    } all[] = { { PMIX_FWD_STDOUT, PMIX_FWD_STDOUT_CHANNEL },
                { PMIX_FWD_STDERR, PMIX_FWD_STDERR_CHANNEL },
                { PMIX_FWD_STDDIAG, PMIX_FWD_STDDIAG_CHANNEL } };

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bool wanted = is_tool;
        for (size_t i = 0; i < a->ninfos; i++) {
            if (PMIx_Check_key(a->infos[i].key, all[k].key))
                wanted = PMIx_Value_true(&a->infos[i].value) != PMIX_BOOL_FALSE;
        }
        a->channels |= wanted ? all[k].channel : 0;
    }
    ask_add_info(&a->infos, &a->ninfos, is_tool ? PMIX_REQUESTOR_IS_TOOL : PMIX_REQUESTOR_IS_CLIENT,
                 NULL, PMIX_BOOL);
}

static bool has_key(const struct ask *a, const char *key)
{
    return info_group_find((struct info_group){ a->infos, a->ninfos }, key) != NULL;
}

/* For the children's job info. */
static bool name_parent(struct ask *a)
{
    bool yes = true;

    return (has_key(a, PMIX_SPAWNED) ||
            ask_add_info(&a->infos, &a->ninfos, PMIX_SPAWNED, &yes, PMIX_BOOL)) &&
           (has_key(a, PMIX_PARENT_ID) ||
            ask_add_info(&a->infos, &a->ninfos, PMIX_PARENT_ID, &a->from, PMIX_PROC));
}

/* To output; the reply has our number of the subscription. */
static bool subscribe(struct ask *a, const struct peer *p)
{
    size_t ref = iof_add(a->s, a, p);

    ASK_PACK(a, iof_pulled, .has = PMSG_BIT(iof_pulled, ref), .ref = ref);
    return ref != 0;
}

static enum answer_status take_command(struct pserver *s, struct peer *p,
                                       const struct request_host *rq, uint64_t ticket)
{
    struct pmix_dialect d = pmix_dialect(p);
    struct ask *a = ask_new(s, host_call_of(rq->command), ticket);
    struct punpack r;

    if (!a)
        return ANSWER_NO_MEMORY;
    ask_from(a, p);
    ask_charge(a, p, rq->body.len);
    a->command = rq->command;
    a->as = d.as;
    a->described = d.described;
    a->release = d.release;
    punpack_init(&r, rq->body, d.as);
    r.described = d.described;
    a->kind->read(a, &r);
    if (!punpack_ok(&r)) {
        ask_free(a);
        return ANSWER_BAD_VALUE;
    }
    if (!identity_prove(a, p)) {
        ask_free(a);
        return ANSWER_NO_MEMORY;
    }
    if (a->command == CMD_FINALIZE)
        sconn_leaves(s, p);
    if (a->command == CMD_SPAWN && !name_parent(a)) {
        ask_free(a);
        return ANSWER_NO_MEMORY;
    }
    if (a->command == CMD_SPAWN)
        follow_children(a, p->job && p->job->is_tool);
    if (a->command == CMD_IOF_PULL && !subscribe(a, p)) {
        ask_free(a);
        return ANSWER_NO_MEMORY;
    }
    if (a->command == CMD_IOF_DEREG)
        iof_drop(s, p, (size_t)a->number);
    if (a->command == CMD_FINALIZE && !is_client(s, p)) {
        ask_answer(a, PMIX_SUCCESS);
        ask_free(a);
    } else {
        ask_go(a);
    }
    return ANSWER_LATER;
}

/* ---- events ---------------------------------------------------------------------------------- */

static pmix_status_t call_notify(struct ask *a)
{
    return a->s->module.notify_event(a->status, &a->from, (pmix_data_range_t)a->number, a->infos,
                                     a->ninfos, ask_on_op, a);
}

static const struct ask_kind notify_kind = { .call = call_notify };

/* Notifies the processes of this node; the host notifies the others. */
static void pass_event_on(struct pserver *s, struct peer *p, const struct request_notify *rq)
{
    struct ask *a;
    struct punpack r;

    if (!s->module.notify_event || rq->range == PMIX_RANGE_LOCAL ||
        rq->range == PMIX_RANGE_PROC_LOCAL || !is_client(s, p))
        return;
    a = ask_new(s, &notify_kind, 0);
    if (!a)
        return;
    ask_from(a, p);
    ask_charge(a, p, rq->infos.len);
    a->status = (pmix_status_t)rq->code;
    a->number = rq->range;
    punpack_init(&r, rq->infos, &ptype_own);
    if (rq->infos.len)
        a->infos = punpack_list(&r, PMIX_INFO, &a->ninfos);
    if (identity_prove(a, p))
        ask_go(a);
    else
        ask_free(a);
}

static pmix_status_t call_register(struct ask *a)
{
    return a->s->module.register_events(a->codes, a->ncodes, a->infos, a->ninfos, ask_on_op, a);
}

static const struct ask_kind register_kind = { .call = call_register };

static void pass_registration_on(struct pserver *s, const struct peer *p,
                                 const struct request_recall *rq)
{
    struct ask *a = s->module.register_events ? ask_new(s, &register_kind, 0) : NULL;

    if (!a)
        return;
    ask_charge(a, p, rq->codes.len);
    a->codes = rq->count ? calloc(rq->count, sizeof *a->codes) : NULL;
    if (a->codes && rq->codes.len == rq->count * sizeof *a->codes) {
        memcpy(a->codes, rq->codes.ptr, rq->codes.len);
        a->ncodes = rq->count;
    }
    if (identity_prove(a, p))
        ask_go(a);
    else
        ask_free(a);
}

/* The codes may lie anywhere in the request. */
static void pass_deregistration_on(struct pserver *s, const struct request_forget *rq)
{
    pmix_status_t *codes = calloc(rq->count + (size_t)1, sizeof *codes);

    if (codes && rq->codes.len == rq->count * sizeof *codes) {
        if (rq->codes.len)
            memcpy(codes, rq->codes.ptr, rq->codes.len);
        forget_events(s, codes, rq->count, NULL);
    }
    free(codes);
}

/* ---- files to be cleaned up ------------------------------------------------------------------ */

/* Accepted only when it can be done with the rights of the requesting process.  True: it is
 * refused.
 */
static bool refuses_cleanup(struct pserver *s, const struct peer *p)
{
    struct nspace *n = nspace_of(s, p->job);
    struct local *l = n ? nspace_local(n, p->rank) : NULL;
    uid_t uid;
    gid_t gid;

    if (!l)
        return true;
    if (l->cleanups)
        return false;
    l->cleanups = true;
    if (nspace_rights(n, p->rank, &uid, &gid) && cleanup_can(uid, gid))
        return false;
    l->cleanups = false;
    log_warn(
        &s->log,
        "rank %u of %.200s has registered files for removal, but its rights cannot be determined",
        p->rank, n->name);
    return true;
}

/* ---- entry point ----------------------------------------------------------------------------- */

bool command_takes(void *arg, struct peer *p, const struct request *rq, uint64_t ticket,
                   struct answer *a_p)
{
    struct pserver *s = arg;

    switch (rq->kind) {
    case REQ_identify:
        if (p->job)
            return false;
        a_p->status = admission_ask(s, p, &rq->u.identify, ticket);
        return true;
    case REQ_node_parts: a_p->status = inventory_answer(s, rq, ticket); return true;
    case REQ_job_attr: return inventory_share(s, rq->u.job_attr.key, a_p);
    case REQ_host: a_p->status = take_command(s, p, &rq->u.host, ticket); return true;
    case REQ_publish:
    case REQ_unpublish:
    case REQ_lookup:
        if (!s->module.publish)
            return false;
        a_p->status = plain_take(s, p, rq, ticket);
        return true;
    case REQ_finalize:
    case REQ_spawn:
    case REQ_abort: a_p->status = plain_take(s, p, rq, ticket); return true;
    case REQ_register_cleanup: a_p->status = ANSWER_RESERVED; return refuses_cleanup(s, p);
    case REQ_notify: pass_event_on(s, p, &rq->u.notify); return false;
    case REQ_forget: pass_deregistration_on(s, &rq->u.forget); return false;
    case REQ_recall: pass_registration_on(s, p, &rq->u.recall); return false;
    default: return false;
    }
}
