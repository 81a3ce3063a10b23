/* server_host.c - the host's calls to the server about its jobs, so that a trace has them; and the
 * form of an effect in a trace. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/collective_nodes.h"
#include "core/control.h"
#include "core/core_effect.h"
#include "core/core_names.h"
#include "core/core_request.h"
#include "core/effect.h"
#include "core/job_connect.h"
#include "core/job_end.h"
#include "core/job_event.h"
#include "core/job_kvs.h"
#include "core/proc_connect.h"
#include "core/modex.h"
#include "core/exchange_data.h"
#include "core/request.h"
#include "pmix_common.h"
#include "session/record.h"
#include "session/server_priv.h"
#include "wire/pmix_pack.h"

/* ---- trace ----------------------------------------------------------------------------------- */

void server_tell(const struct server *s, struct record *r)
{
    s->recorder(s->recorder_arg, r);
}

void server_record(struct server *s, server_recorder *fn, void *arg, uint64_t wall_ns,
                   const char *node)
{
    s->recorder = fn;
    s->recorder_arg = arg;
    TELL(s, begin, .wall_ns = wall_ns, .seed = s->core.seed, .neighbours = s->core.has_neighbours,
         .version = SLICE(WIREUP_VERSION), .node = slice_str(node),
         .topology = s->core.has_topology, .others = s->core.has_others,
         .names_elsewhere = s->core.names_elsewhere, .position = s->core.position,
         .tools = s->core.takes_tools, .manager = s->core.is_manager,
         .name = slice_str(s->core.name), .uri = slice_str(s->core.uri),
         .sessions = slice_str(s->core.sessions));
}

void server_record_end(struct server *s)
{
    if (s->recorder)
        server_tell(s, &(struct record){ .kind = RECORD_end });
    s->recorder = NULL;
}

static uint64_t connection_of(uint64_t ticket)
{
    return ticket >> 32;
}

static uint64_t token_of(uint64_t ticket)
{
    return ticket & UINT32_MAX;
}

static int64_t signed_id(uint32_t id)
{
    return id == JOB_NO_RANK ? -1 : (int64_t)id;
}

void server_tell_effect(const struct server *s, const struct effect *e)
{
    struct record r;

    if (!s->recorder)
        return;
    record_effect(e, &r);
    server_tell(s, &r);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* The placement, four numbers for each run of ranks with consecutive local ranks. */
static uint32_t *make_runs(const struct job_map *p, uint32_t *n_p)
{
    uint32_t *runs = calloc(p->nprocs + (size_t)1, 4 * sizeof *runs);
    uint32_t n = 0;

    for (uint32_t r = 0; runs && r < p->nprocs; r++) {
        const struct job_map_proc *q = &p->procs[r];
        uint32_t *last = n ? runs + 4 * (size_t)(n - 1) : NULL;
        if (last && last[1] == q->app && last[2] == q->node && last[3] + last[0] == q->local_rank) {
            last[0]++;
        } else {
            uint32_t run[4] = { 1, q->app, q->node, q->local_rank };
            memcpy(runs + 4 * (size_t)n++, run, sizeof run);
        }
    }
    *n_p = 4 * n;
    return runs;
}

static uint32_t count_args(const struct job_map *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->napps; i++)
        n += p->apps[i].argv && p->apps[i].argc ? p->apps[i].argc - 1 : 0;
    return n;
}

/* The arguments of all applications; how many each has goes to argcs. */
static struct slice *list_args(const struct job_map *p, uint32_t *argcs)
{
    struct slice *words = calloc(count_args(p) + (size_t)1, sizeof *words);
    uint32_t n = 0;

    for (uint32_t i = 0; words && argcs && i < p->napps; i++) {
        argcs[i] = p->apps[i].argv && p->apps[i].argc ? p->apps[i].argc - 1 : 0;
        for (uint32_t a = 0; a < argcs[i]; a++)
            words[n++] = slice_str(p->apps[i].argv[a + 1]);
    }
    return words;
}

static void tell_job(const struct server *s, const struct job *j)
{
    const struct job_map *p = &j->plan;
    struct slice *names = calloc(2 * (size_t)p->napps + p->nnodes + 1, sizeof *names);
    struct slice *nodes = names ? names + p->napps : NULL;
    struct slice *wdirs = names ? nodes + p->nnodes : NULL;
    uint32_t *slots = calloc(p->nnodes + (size_t)1, sizeof *slots);
    uint32_t nruns, *runs = make_runs(p, &nruns);
    uint32_t *argcs = calloc(p->napps + (size_t)1, sizeof *argcs);
    struct slice *words = list_args(p, argcs);

    for (uint32_t i = 0; names && i < p->napps; i++) {
        names[i] = slice_str(p->apps[i].argv ? p->apps[i].argv[0] : "");
        wdirs[i] = slice_str(p->apps[i].wdir ? p->apps[i].wdir : j->wdir);
    }
    for (uint32_t i = 0; names && slots && i < p->nnodes; i++) {
        nodes[i] = slice_str(p->nodes[i].name);
        slots[i] = p->nodes[i].slots;
    }
    if (names && slots && runs && argcs &&
        words) /* else the trace cannot be replayed, and its reader reports that */
        TELL(s, job, .job = j->id, .parent = signed_id(j->parent), .keep_going = j->keep_going,
             .nspace = slice_str(j->nspace), .universe = p->universe, .apps = { names, p->napps },
             .nodes = { nodes, p->nnodes }, .runs = { runs, nruns }, .wdirs = { wdirs, p->napps },
             .slots = { slots, p->nnodes }, .here = (uint32_t)(j->here + 1), .follows = j->follows,
             .base = j->base + UINT64_C(1), .tool = j->is_tool, .asked = j->is_asked,
             .words = { words, count_args(p) }, .argcs = { argcs, p->napps });
    free(argcs);
    free(words);
    free(names);
    free(slots);
    free(runs);
}

struct job *server_job_order(struct server *s, const struct job_order *o)
{
    struct job *j = core_job_order(&s->core, o);

    if (j && s->recorder)
        tell_job(s, j);
    return j;
}

struct job *server_job_add(struct server *s, const char *nspace, struct job_map *plan,
                           struct seg_region *region, uint32_t parent, bool keep_going)
{
    return server_job_order(s, &(struct job_order){ .nspace = nspace,
                                                    .plan = plan,
                                                    .region = region,
                                                    .parent = parent,
                                                    .keep_going = keep_going,
                                                    .here = JOB_ALL_HERE });
}

void server_job_remove(struct server *s, struct job *j)
{
    TELL(s, job_gone, .job = j->id);
    core_job_remove(&s->core, j);
}

void server_preset(struct server *s, struct job *j, struct slice key, struct slice value)
{
    TELL(s, preset, .job = j->id, .key = key, .value = value);
    job_preset(j, key, value);
}

void server_commanded(struct server *s, struct job *j, uint32_t rank)
{
    TELL(s, commanded, .job = j->id, .rank = rank);
    control_commanded(j, rank == JOB_NO_RANK ? REQUEST_ALL_RANKS : rank);
}

void server_tied(struct server *s, struct job *j, uint32_t other, bool on)
{
    TELL(s, tied, .job = j->id, .other = other, .on = on);
    if (on)
        job_connect(j, other);
    else
        job_disconnect(j, other);
}

void server_bonded(struct server *s, struct slice bond, bool on)
{
    TELL(s, bonded, .bond = bond, .on = on);
    if (!proc_connect_heard(&s->core, bond, on))
        log_error(s->log, "another node has sent an invalid list of connected jobs");
}

void server_space_gone(struct server *s, struct job *j, struct slice name)
{
    TELL(s, space_gone, .job = j->id, .name = name);
    job_space_delete(j, name);
}

/* The event that an exit is to the others, or 0: none. */
static int event_code(const struct proc *p, enum proc_event event)
{
    bool took_part = p->state == PROC_STATE_ATTACHED || p->state == PROC_STATE_LOST;

    if (p->commanded && (event == PROC_EVENT_DEATH || event == PROC_EVENT_EXIT))
        return PMIX_ERR_PROC_KILLED_BY_CMD;
    if (event == PROC_EVENT_DEATH)
        return PMIX_ERR_PROC_ABORTED_BY_SIG;
    if (event != PROC_EVENT_EXIT)
        return 0;
    return took_part ? PMIX_ERR_PROC_TERM_WO_SYNC : PMIX_EVENT_PROC_TERMINATED;
}

void server_event(struct server *s, struct job *j, uint32_t rank, enum proc_event event, int code)
{
    int told = event_code(&j->procs[rank], event);

    TELL(s, event, .job = j->id, .rank = rank, .event = slice_str(proc_event_name(event)),
         .code = code, .pid = j->procs[rank].pid);
    job_event(j, rank, event, code);
    if (told)
        server_tell_end(s, j, rank, told, code);
    if (event == PROC_EVENT_FINALIZE || event == PROC_EVENT_EXIT || event == PROC_EVENT_DEATH)
        server_tell_unbound(s, j, rank, told, code);
}

void server_abort(struct server *s, struct job *j, uint32_t culprit, int exit_code,
                  const char *format, ...)
{
    struct errmsg reason;
    va_list args;

    va_start(args, format);
    vsnprintf(reason.text, sizeof reason.text, format, args);
    va_end(args);
    TELL(s, abort, .job = j->id, .culprit = signed_id(culprit), .code = exit_code,
         .reason = slice_str(reason.text));
    job_end(j, culprit, exit_code, reason.text);
}

void server_blame(struct server *s, struct job *j, int exit_code, const char *reason)
{
    TELL(s, blame, .job = j->id, .code = exit_code, .reason = slice_str(reason));
    job_blame(j, exit_code, reason);
}

void server_abort_connected(struct server *s, struct job *j)
{
    TELL(s, abort_connected, .job = j->id);
    core_abort_connected(&s->core, j);
}

/* ---- answers of the host --------------------------------------------------------------------- */

void server_answer(struct server *s, uint64_t ticket, const struct answer *a)
{
    TELL(s, answer, .connection = connection_of(ticket), .token = token_of(ticket),
         .status = slice_str(answer_word(a->status)), .key = a->key, .value = a->value,
         .text = a->text, .codes = { a->codes, a->codes ? a->ncodes : 0 }, .type = a->type,
         .about = a->about ? a->about->id + UINT64_C(1) : 0, .rank = a->rank);
    server_deliver(s, ticket, a);
}

void server_names_heard(struct server *s, uint64_t ticket, const struct nameservice_query *q,
                        bool found, struct slice port)
{
    struct answer a;

    TELL(s, heard, .connection = connection_of(ticket), .token = token_of(ticket), .found = found,
         .port = port);
    core_names_heard(&s->core, ticket, q, found, port, &a);
    if (a.status != ANSWER_LATER)
        server_deliver(s, ticket, &a);
}

uint64_t server_tick(struct server *s, uint64_t now_ns)
{
    struct effects *q = &s->core.effects;
    size_t before = q->count;
    bool told = false;

    if (now_ns < q->tick_ns)
        return q->tick_ns;
    q->tick_ns = UINT64_MAX;
    effects_tick_by(q, core_tick(&s->core, now_ns));
    effects_tick_by(q, server_monitors_tick(s, now_ns, &told));
    /* Some find nothing to do: whoever waited has been answered. */
    if (s->recorder && (told || q->count != before))
        server_tell(s, &(struct record){ .kind = RECORD_tick, .time_ns = now_ns });
    return q->tick_ns;
}

enum answer_status server_unpublish(struct server *s, struct slice service)
{
    TELL(s, unpublish, .service = service);
    return core_names_withdraw(&s->core, service);
}

/* ---- other nodes ----------------------------------------------------------------------------- */

/* The parts of an identity in a record. */
#define COLL_ID_PARTS(id)                                                                          \
    .kind = slice_str(coll_kind_name((id)->kind)), .of_job = (id)->job, .group = (id)->group,      \
    .generation = (id)->generation

void server_completed(struct server *s, const struct coll_id *id, enum answer_status status,
                      const struct slice *blocks, uint32_t nblocks)
{
    TELL(s, completed, COLL_ID_PARTS(id), .status = slice_str(answer_word(status)),
         .blocks = { blocks, nblocks });
    collective_nodes_completed(&s->core, id, status, blocks, nblocks);
}

void server_fetched(struct server *s, struct job *j, uint32_t rank, enum answer_status status,
                    struct slice block)
{
    TELL(s, fetched, .job = j->id, .rank = rank, .status = slice_str(answer_word(status)),
         .block = block, .pid = (uint64_t)j->procs[rank].pid);
    if (status == ANSWER_OK)
        status = exchange_data_store(j, block);
    modex_fetched(j, rank, status);
}

void server_fetch(struct server *s, struct job *j, uint32_t rank, struct slice key,
                  uint64_t timeout_ns, uint64_t ticket, uint64_t now_ns)
{
    struct modex_get g = {
        .rank = rank, .key = key, .timeout_ns = timeout_ns, .ticket = ticket, .now_ns = now_ns
    };

    if (s->recorder)
        server_tell(s, &(struct record){ .kind = RECORD_modex_request,
                                         .time_ns = now_ns,
                                         .u.modex_request = { .job = j->id,
                                                              .rank = rank,
                                                              .key = key,
                                                              .timeout_ns = timeout_ns,
                                                              .ticket = ticket } });
    modex_serve(j, &g);
}

static void tell_ask(const struct server *s, const struct job *j, const struct nameservice_query *q,
                     uint64_t ticket, uint64_t now_ns)
{
    server_tell(s, &(struct record){ .kind = RECORD_ask,
                                     .time_ns = now_ns,
                                     .u.ask = { .job = j->id,
                                                .rank = q->rank,
                                                .word = slice_str(nameservice_op_name(q->op)),
                                                .key = q->service,
                                                .value = q->port,
                                                .type = q->type,
                                                .wait = q->wait,
                                                .stays = q->life,
                                                .timeout_ns = q->timeout_ns,
                                                .ticket = ticket } });
}

static struct request request_of(const struct nameservice_query *q)
{
    switch (q->op) {
    case NAMESERVICE_PUBLISH:
        return REQUEST_WITH(publish, .service = q->service, .port = q->port, .type = q->type,
                            .life = q->life);
    case NAMESERVICE_UNPUBLISH: return REQUEST_WITH(unpublish, .service = q->service);
    default:
        return REQUEST_WITH(lookup, .service = q->service, .wait = q->wait,
                            .timeout_ns = q->timeout_ns);
    }
}

void server_ask(struct server *s, struct job *j, const struct nameservice_query *q, uint64_t ticket,
                uint64_t now_ns)
{
    struct request rq = request_of(q);
    struct answer a;

    if (s->recorder)
        tell_ask(s, j, q, ticket, now_ns);
    core_request(&s->core, j, q->rank, ticket | TICKET_OF_HOST, &rq, now_ns, &a);
    if (a.status != ANSWER_LATER)
        server_reply(s, ticket, &a);
}

void server_notify(struct server *s, const struct notice *n)
{
    TELL(s, notify, .nspace = slice_str(n->nspace), .rank = n->rank, .code = n->code,
         .range = n->range, .flags = n->flags, .infos = n->infos);
    server_spread(s, n);
}

bool server_round(struct server *s, struct job *j, uint32_t rank, const struct coll_id *id)
{
    TELL(s, collective_query, .job = j->id, .rank = rank, COLL_ID_PARTS(id));
    return collective_nodes_will_complete(&s->core, j, rank, id);
}

void server_round_heard(struct server *s, struct job *j, uint32_t rank, const struct coll_id *id,
                        bool will_complete)
{
    TELL(s, round_heard, .job = j->id, .rank = rank, COLL_ID_PARTS(id),
         .will_complete = will_complete);
    collective_nodes_heard(&s->core, j, rank, id, will_complete);
}

static struct effect make_reply(uint64_t ticket, const struct answer *a)
{
    return EFFECT_WITH(reply, .ticket = ticket & ~TICKET_OF_HOST, .status = a->status,
                       .number = a->number, .type = a->type,
                       .job = a->about ? a->about->id : JOB_NO_RANK, .rank = a->rank, .key = a->key,
                       .value = a->value);
}

void server_reply(struct server *s, uint64_t ticket, const struct answer *a)
{
    effects_push(&s->core.effects, make_reply(ticket, a));
}

/* The result of a pending request. */
static struct answer result_of(struct server *s, const struct effect_answer *e)
{
    struct answer a = {
        .status = e->status, .number = e->number, .key = e->key, .value = e->value
    };

    if (e->lookup)
        core_names_lookup_now(&s->core, e->lookup, &a);
    return a;
}

void server_turn_to_reply(struct server *s, struct effect *e)
{
    struct answer a = result_of(s, &e->u.answer);
    struct effect reply = make_reply(e->u.answer.ticket, &a);

    if (!effect_own(&reply))
        reply = make_reply(e->u.answer.ticket, &(struct answer){ .status = ANSWER_NO_MEMORY });
    effect_drop(e);
    *e = reply;
}

void server_effect_answer(struct server *s, struct effect *e)
{
    struct answer a = result_of(s, &e->u.answer);

    server_deliver(s, e->u.answer.ticket, &a);
    effect_drop(e);
}
