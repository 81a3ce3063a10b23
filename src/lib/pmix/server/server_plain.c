/* server_plain.c - see server_plain.h. */
#include "lib/pmix/server/server_plain.h"

#include <stdlib.h>
#include <string.h>

#include "core/request.h"
#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_host_call.h"
#include "lib/pmix/server/server_identity.h"
#include "wire/pmix_message.h"

static char *text_copy(struct slice s)
{
    return strndup(s.ptr ? s.ptr : "", s.len);
}

static bool plain_publish(struct ask *a, const struct request_publish *rq)
{
    char *service = text_copy(rq->service), *port = text_copy(rq->port);
    bool good = service && port && ask_add_info(&a->infos, &a->ninfos, service, port, PMIX_STRING);

    free(service);
    free(port);
    return good;
}

static bool plain_name(struct ask *a, struct slice name)
{
    char *service = text_copy(name);
    bool good = service && PMIx_Argv_append_nosize(&a->keys, service) == PMIX_SUCCESS;

    free(service);
    return good;
}

static bool plain_app(pmix_app_t *app, const struct spawn_command *c)
{
    bool good;

    app->cmd = strdup(c->program);
    app->maxprocs = (int)c->nprocs;
    good = app->cmd && PMIx_Argv_append_nosize(&app->argv, c->program) == PMIX_SUCCESS;
    for (uint32_t i = 0; i < c->nargs && good; i++)
        good = PMIx_Argv_append_nosize(&app->argv, c->args[i]) == PMIX_SUCCESS;
    for (uint32_t i = 0; i < c->ninfos && good; i++) {
        char *text = text_copy(c->infos[i].value);
        bool wdir = slice_is(c->infos[i].key, "wdir"), host = slice_is(c->infos[i].key, "host");
        if (text && (wdir || host))
            good = ask_add_info(&app->info, &app->ninfo, wdir ? PMIX_WDIR : PMIX_HOST, text,
                                PMIX_STRING);
        free(text);
    }
    return good;
}

static bool plain_spawn(struct ask *a, const struct spawn_request *rq)
{
    bool good = true;

    a->apps = calloc(rq->ncommands ? rq->ncommands : 1, sizeof *a->apps);
    a->napps = a->apps ? rq->ncommands : 0;
    for (size_t i = 0; i < a->napps && good; i++)
        good = plain_app(&a->apps[i], &rq->commands[i]);
    return good && a->apps;
}

static bool plain_abort(struct ask *a, const struct request_abort *rq)
{
    a->status = (pmix_status_t)rq->code;
    a->text = text_copy(rq->message);
    return a->text != NULL;
}

static size_t plain_bytes(const struct request *rq)
{
    switch (rq->kind) {
    case REQ_publish: return rq->u.publish.service.len + rq->u.publish.port.len;
    case REQ_unpublish: return rq->u.unpublish.service.len;
    case REQ_lookup: return rq->u.lookup.service.len;
    case REQ_abort: return rq->u.abort.message.len;
    default: return 0;
    }
}

static bool plain_words(struct pserver *s, struct peer *p, struct ask *a, const struct request *rq)
{
    switch (rq->kind) {
    case REQ_publish: return plain_publish(a, &rq->u.publish);
    case REQ_unpublish: return plain_name(a, rq->u.unpublish.service);
    case REQ_lookup: return plain_name(a, rq->u.lookup.service);
    case REQ_spawn: return plain_spawn(a, rq->u.spawn.request);
    case REQ_abort: return plain_abort(a, &rq->u.abort);
    case REQ_finalize: sconn_leaves(s, p); return true;
    default: return false;
    }
}

enum answer_status plain_take(struct pserver *s, struct peer *p, const struct request *rq,
                              uint64_t ticket)
{
    static const uint8_t commands[] = {
        [REQ_publish] = CMD_PUBLISH, [REQ_unpublish] = CMD_UNPUBLISH, [REQ_lookup] = CMD_LOOKUP,
        [REQ_spawn] = CMD_SPAWN,     [REQ_abort] = CMD_ABORT,         [REQ_finalize] = CMD_FINALIZE
    };
    struct ask *a = ask_new(s, host_call_of(commands[rq->kind]), ticket);
    bool good = a != NULL;

    if (a) {
        ask_from(a, p);
        ask_charge(a, p, plain_bytes(rq));
        a->plain = true;
        good = plain_words(s, p, a, rq) && identity_prove(a, p);
    }
    if (rq->kind == REQ_spawn)
        spawn_free(rq->u.spawn.request);
    if (good)
        ask_go(a);
    else if (a)
        ask_free(a);
    return good ? ANSWER_LATER : ANSWER_NO_MEMORY;
}
