/* pmix_query_support.c - see pmix_findings.h: this server, its abilities, and the attributes of its
 * functions. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/job_attr.h"
#include "core/request.h"
#include "server/pmix_calls.h"
#include "server/pmix_findings.h"
#include "server/pmix_support.h"
#include "server/rights.h"
#include "server/server.h"

enum { TEXT_MAX = 1 << 24 };

void pmix_find_uri(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const char *uri = f->s->base.peer->core->uri;

    (void)about;
    if (uri)
        info_array_text(&f->list, key, uri);
    else
        f->missed++;
}

/* Of the server of the node that is asked. */
void pmix_find_start_time(struct pmix_findings *f, const char *key,
                          const struct query_subject *about)
{
    char room[SERVER_STARTED_ROOM];
    const char *started = server_started(f->s->base.peer->core, room);

    (void)about;
    if (started)
        info_array_text(&f->list, key, started);
    else
        f->missed++;
}

/* This one: others are found by tools themselves. */
void pmix_find_servers(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct core *c = f->s->base.peer->core;
    struct info_array one = { .items = NULL }, all = { .items = NULL };

    (void)about;
    if (!c->uri || !c->name) {
        f->missed++;
        return;
    }
    info_array_text(&one, PMIX_SERVER_NSPACE, c->name);
    info_array_add(&one, PMIX_SERVER_RANK,
                   (pmix_value_t){ .type = PMIX_PROC_RANK, .data.rank = c->name_rank });
    info_array_text(&one, PMIX_SERVER_URI, c->uri);
    info_array_infos(&all, PMIX_SERVER_INFO_ARRAY, &one);
    info_array_infos(&f->list, key, &all);
}

void pmix_find_abi_version(struct pmix_findings *f, const char *key,
                           const struct query_subject *about)
{
    (void)about;
    info_array_text(&f->list, key, PMIX_ABI_VERSION);
}

/* Of these, the attributes that are for debuggers. */
void pmix_find_debug_support(struct pmix_findings *f, const char *key,
                             const struct query_subject *about)
{
    static const char words[] = PMIX_DEBUG_STOP_IN_INIT
        "," PMIX_DEBUG_STOP_IN_APP "," PMIX_DEBUG_STOP_ON_EXEC "," PMIX_BREAKPOINT
        "," PMIX_DEBUG_TARGET "," PMIX_DEBUG_DAEMONS_PER_NODE "," PMIX_DEBUG_DAEMONS_PER_PROC
        "," PMIX_DEBUGGER_DAEMONS;

    (void)about;
    info_array_text(&f->list, key, words);
}

/* The request that a call is, where it may need rights (server/rights.h). */
static const struct {
    uint8_t call, request;
} guarded[] = { { PMIX_CALL_SPAWN, REQ_spawn },
                { PMIX_CALL_CONNECT, REQ_connect },
                { PMIX_CALL_PUBLISH, REQ_publish },
                { PMIX_CALL_LOOKUP, REQ_lookup },
                { PMIX_CALL_UNPUBLISH, REQ_unpublish },
                { PMIX_CALL_JOB_CONTROL, REQ_signal },
                { PMIX_CALL_IOF_PULL, REQ_iof_pull },
                { PMIX_CALL_IOF_PUSH, REQ_input },
                { PMIX_CALL_ALLOCATION, REQ_allocate },
                { PMIX_CALL_SESSION_CONTROL, REQ_allocate },
                { PMIX_CALL_GET_CREDENTIAL, REQ_credential } };

static bool may_call(const struct peer *p, unsigned call)
{
    for (size_t i = 0; p->restricted && i < sizeof guarded / sizeof *guarded; i++) {
        if (guarded[i].call == call)
            return !rights_needed(&(struct request){ .kind = guarded[i].request });
    }
    return pmix_calls[call].command != CMD_NONE && pmix_calls[call].others != PMIX_ATTR_REFUSED;
}

/* The functions of servers that the caller may call, by name. */
void pmix_find_authorizations(struct pmix_findings *f, const char *key,
                              const struct query_subject *about)
{
    char **names = calloc(PMIX_CALLS, sizeof *names);
    size_t n = 0;

    (void)about;
    for (unsigned i = 0; names && i < PMIX_CALLS; i++) {
        if (may_call(f->s->base.peer, i))
            names[n++] = strdup(pmix_calls[i].name);
        f->list.no_memory = f->list.no_memory || (n && !names[n - 1]);
    }
    f->list.no_memory = f->list.no_memory || !names;
    if (names)
        info_array_items(&f->list, key, PMIX_STRING, names, n);
}

/* The attributes of the call to spawn. */
void pmix_find_spawn_support(struct pmix_findings *f, const char *key,
                             const struct query_subject *about)
{
    const struct pmix_call *spawn = &pmix_calls[PMIX_CALL_SPAWN];
    struct buf words = BUF_NULL(TEXT_MAX);

    (void)about;
    for (size_t i = 0; i < spawn->nattrs; i++)
        buf_printf(&words, "%s%s", i ? "," : "", spawn->attrs[i].key);
    pmix_found_text(f, key, &words);
}

void pmix_find_signals(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    struct buf words = BUF_NULL(TEXT_MAX);
    struct slice value;

    if (!about->job || job_attr_made(about->job, SLICE("PMI_signals_forwarded"), &value)) {
        f->missed++;
        return;
    }
    buf_slice_put(&words, value);
    pmix_found_text(f, key, &words);
}

/* ---- attributes of functions ----------------------------------------------------------------- */

/* What a server on our library does itself, for a host that does the rest. */
static bool is_ours(const void *arg, const struct pmix_call *call)
{
    const struct pmix_session *s = arg;

    return call->command != CMD_NONE && !(s->base.peer->host_commands >> call->command & 1);
}

/* `wireup` is server and host in one, and answers for our client's library too.  Of another host we
 * know what it has registered. */
static struct pmix_offer offer_of(const struct pmix_session *s, enum pmix_level level)
{
    const struct core *c = s->base.peer->core;
    struct pmix_offer o = { .offers = NULL };

    if (!c->is_manager && level == PMIX_LEVEL_HOST)
        o.host = &c->host_calls;
    else if (!c->is_manager && level == PMIX_LEVEL_SERVER)
        o = (struct pmix_offer){ .offers = is_ours, .arg = s };
    return o;
}

/* Without a qualifier: the host's. */
void pmix_find_support(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    static const struct pmix_level_key all = { PMIX_QUERY_ATTRIBUTE_SUPPORT, PMIX_LEVEL_HOST,
                                               true };
    const pmix_query_t *q = about->query;
    struct pmix_offer host = offer_of(f->s, PMIX_LEVEL_HOST);
    size_t levels = 0;

    (void)key;
    for (size_t i = 0; i < q->nqual; i++) {
        const struct pmix_level_key *level = pmix_level_of(q->qualifiers[i].key);
        struct pmix_offer o = level ? offer_of(f->s, level->level) : host;
        levels += level != NULL;
        if (level &&
            !pmix_support(&f->list, level, pmix_support_key(q, level), &q->qualifiers[i].value, &o))
            f->missed++;
    }
    if (levels == 0 && !pmix_support(&f->list, &all, all.key, NULL, &host))
        f->missed++;
}
