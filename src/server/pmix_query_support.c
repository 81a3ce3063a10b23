/* pmix_query_support.c - see pmix_findings.h: this server, its abilities, and the attributes of its
 * functions. */
#include "core/core.h"
#include "core/job_attr.h"
#include "server/pmix_calls.h"
#include "server/pmix_findings.h"
#include "server/pmix_support.h"
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
