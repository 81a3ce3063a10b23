/* server_calls.c - see server_calls.h. */
#include "wireupd/server_calls.h"

#include <stdlib.h>
#include <string.h>

#include "session/server.h"

static void completed(void *arg, const struct coll_id *id, enum answer_status status,
                      const struct slice *blocks, uint32_t n)
{
    server_completed(arg, id, status, blocks, n);
}

static bool round_of(void *arg, struct job *j, uint32_t rank, const struct coll_id *id)
{
    return server_round(arg, j, rank, id);
}

static void round_heard(void *arg, struct job *j, uint32_t rank, const struct coll_id *id,
                        bool will)
{
    server_round_heard(arg, j, rank, id, will);
}

static void fetch(void *arg, struct job *j, uint32_t rank, struct slice key, uint64_t timeout_ns,
                  uint64_t ticket, uint64_t now_ns)
{
    server_fetch(arg, j, rank, key, timeout_ns, ticket, now_ns);
}

static void fetched(void *arg, struct job *j, uint32_t rank, enum answer_status status,
                    struct slice block)
{
    server_fetched(arg, j, rank, status, block);
}

static void ask(void *arg, struct job *j, const struct nameservice_query *q, uint64_t ticket,
                uint64_t now_ns)
{
    server_ask(arg, j, q, ticket, now_ns);
}

static void answer(void *arg, uint64_t ticket, const struct answer *a)
{
    server_answer(arg, ticket, a);
}

static void proc_state(void *arg, struct job *j, uint32_t rank, enum proc_event event, int code)
{
    server_event(arg, j, rank, event, code);
}

static void abort_job(void *arg, struct job *j, uint32_t culprit, int code, struct slice reason)
{
    server_abort(arg, j, culprit, code, SLICE_FMT, SLICE_ARG(reason));
}

static void tied(void *arg, struct job *j, uint32_t other, bool on)
{
    server_tied(arg, j, other, on);
}

static void bonded(void *arg, struct slice bond, bool on)
{
    server_bonded(arg, bond, on);
}

static void space_gone(void *arg, struct job *j, struct slice name)
{
    server_space_gone(arg, j, name);
}

static void notify(void *arg, const struct msg_event *e)
{
    char *nspace = strndup(e->nspace.ptr ? e->nspace.ptr : "", e->nspace.len);
    struct notice n = { .code = (int)e->code,
                        .range = (uint8_t)e->range,
                        .flags = (uint8_t)e->flags,
                        .nspace = nspace,
                        .rank = (uint32_t)e->rank,
                        .infos = e->infos };

    if (nspace)
        server_notify(arg, &n);
    free(nspace);
}

struct exit_reader {
    core_exit_fn *fn;
    void *arg;
};

static void read_exit(void *arg, const struct notice *n)
{
    const struct exit_reader *r = arg;
    struct msg_event e = { .code = n->code,
                           .range = n->range,
                           .flags = n->flags,
                           .nspace = slice_str(n->nspace),
                           .rank = n->rank,
                           .infos = n->infos };

    r->fn(r->arg, &e);
}

static void kept_exits(void *arg, core_exit_fn *fn, void *fn_arg)
{
    struct exit_reader r = { fn, fn_arg };

    server_kept_ends(arg, read_exit, &r);
}

static void recall(void *arg, struct slice nspace, uint32_t rank, core_output_fn *fn, void *fn_arg)
{
    server_recall(arg, nspace, rank, fn, fn_arg);
}

static void overheard(void *arg, const struct msg_iof_data *m)
{
    server_overheard(arg, m->nspace, (uint32_t)m->rank, (uint16_t)m->channel, m->ear, m->bytes);
}

struct core_calls server_calls(void)
{
    return (struct core_calls){ .completed = completed,
                                .round = round_of,
                                .round_heard = round_heard,
                                .fetch = fetch,
                                .fetched = fetched,
                                .ask = ask,
                                .answer = answer,
                                .proc_state = proc_state,
                                .abort = abort_job,
                                .tied = tied,
                                .bonded = bonded,
                                .space_gone = space_gone,
                                .notify = notify,
                                .kept_exits = kept_exits,
                                .recall = recall,
                                .overheard = overheard };
}
