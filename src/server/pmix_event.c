/* pmix_event.c - see pmix_event.h. */
#include "server/pmix_event.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/request.h"
#include "server/pmix_group.h"
#include "server/pmix_invite.h"
#include "server/pmix_value.h"

enum { DEFAULT_EVENT = INT32_MIN };

/* ---- from the client ------------------------------------------------------------------------- */

uint8_t pmix_event_flags(const pmix_info_t *infos, size_t n)
{
    uint8_t flags = 0;

    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_EVENT_NON_DEFAULT) && pmix_flag_of(&infos[i].value))
            flags |= EVENT_BY_CODE;
        else if (!strcmp(infos[i].key, PMIX_EVENT_DO_NOT_CACHE) && pmix_flag_of(&infos[i].value))
            flags |= EVENT_NOT_KEPT;
    }
    return flags;
}

void pmix_read_notify(struct command *c)
{
    struct pmsg_notify m;

    if (pmsg_read_notify(&c->r, c->s->release, &m) == PTYPE_FINE &&
        !pmix_invite_is_late(c, m.code)) {
        struct slice kept = pmix_keep_packed(c, m.infos.items, m.infos.n);
        pmix_ask(c, REQUEST_WITH(notify, .code = m.code, .range = m.range, .infos = kept,
                                 .flags = pmix_event_flags(m.infos.items, m.infos.n)));
        if (m.code == PMIX_GROUP_LEFT)
            pmix_group_left(c, m.infos.items, m.infos.n);
        else
            pmix_invite_sent(c, m.code, m.infos.items, m.infos.n);
    }
    pmsg_free_notify(&m, NULL);
}

/* None: those of a default handler.  False: no memory. */
static bool keep_codes(struct pmix_session *s, const pmix_status_t *codes, size_t n)
{
    pmix_status_t *more = realloc(s->codes, (s->ncodes + n + 1) * sizeof *more);

    if (!more)
        return false;
    s->base.peer->registered = true;
    s->codes = more;
    if (n)
        memcpy(more + s->ncodes, codes, n * sizeof *more);
    s->recall_from = s->ncodes;
    s->recall_all = n == 0;
    s->ncodes += n;
    s->every_event = s->every_event || n == 0;
    return true;
}

/* Earlier events follow the reply. */
static void ask_recall(struct command *c, const pmix_status_t *codes, size_t n)
{
    c->cmd = CMD_NONE;
    pmix_ask(c, REQUEST_WITH(recall, .codes = pmix_keep(c, slice_mem(codes, n * sizeof *codes)),
                             .count = (uint32_t)n));
}

void pmix_read_regevents(struct command *c)
{
    struct pmix_session *s = c->s;
    struct pmsg_regevents m;

    if (pmsg_read_regevents(&c->r, s->release, &m) == PTYPE_FINE) {
        if (m.codes.n > LIMIT_EVENT_CODES - s->ncodes) {
            pmix_reply_status(s, c->tag, PMIX_ERR_OUT_OF_RESOURCE);
        } else if (!keep_codes(s, m.codes.items, m.codes.n)) {
            pmix_reply_status(s, c->tag, PMIX_ERR_NOMEM);
        } else {
            pmix_reply_status(s, c->tag, PMIX_SUCCESS);
            ask_recall(c, m.codes.items, m.codes.n);
        }
    }
    pmsg_free_regevents(&m, NULL);
}

static void forget_code(struct pmix_session *s, pmix_status_t code)
{
    if (code == DEFAULT_EVENT)
        s->every_event = false;
    for (size_t i = 0; i < s->ncodes; i++) {
        if (s->codes[i] == code) {
            s->codes[i] = s->codes[--s->ncodes];
            return;
        }
    }
}

/* For a host of its own: it learns which codes nobody awaits any more. */
static void ask_forget(struct command *c, struct slice codes)
{
    if (!c->s->base.peer->core->is_manager && codes.len)
        pmix_ask(c, REQUEST_WITH(forget, .codes = pmix_keep(c, codes),
                                 .count = (uint32_t)(codes.len / sizeof(pmix_status_t))));
}

void pmix_read_deregevents(struct command *c)
{
    struct buf codes = BUF_NULL(LIMIT_EVENT_CODES * sizeof(pmix_status_t));
    struct pmsg_deregevents m;
    struct punpack all;
    pmix_status_t code;

    pmsg_read_deregevents(&c->r, c->s->release, &m);
    all = pmsg_inside(&c->r, m.codes);
    while (pmsg_next_deregevents_codes(&all, c->s->release, &code)) {
        forget_code(c->s, code);
        buf_put(&codes, &code, sizeof code);
    }
    c->r.error = all.error;
    c->cmd = CMD_NONE; /* the client does not wait */
    if (buf_ok(&codes))
        ask_forget(c, buf_slice(&codes));
    buf_free(&codes);
}

/* ---- to the client --------------------------------------------------------------------------- */

/* OpenPMIx before 4.2.3 keeps the events that a process has sent, for handlers that it registers
 * later; newer releases leave that to the server. */
static bool keeps_own_events(const struct pmix_session *s)
{
    return s->release < PMSG_RELEASE(4, 2, 3);
}

/* The host of the server hears of every process that is lost, as with OpenPMIx: with its handler
 * for all codes, too. */
static bool is_hosts_business(const struct pmix_session *s, const struct notice *n)
{
    return n->by_server && n->code == PMIX_ERR_LOST_CONNECTION && session_is_host(s->base.peer);
}

static bool wants(const struct pmix_session *s, const struct notice *n)
{
    bool recalled = n->flags & EVENT_RECALLED;
    bool all = recalled ? s->recall_all : s->every_event;

    if (n->flags & EVENT_OWN && n->flags & EVENT_RECALLED && keeps_own_events(s))
        return false;
    for (size_t i = recalled ? s->recall_from : 0; i < s->ncodes; i++) {
        if (s->codes[i] == n->code)
            return true;
    }
    return all && (!(n->flags & EVENT_BY_CODE) || is_hosts_business(s, n));
}

bool pmix_notify(struct session *base, const struct notice *n)
{
    struct pmix_session *s = pmix_session_of(base);
    struct pmsg_infos kept = { .has = 0 };
    struct pmsg_event m = { .command = CMD_NOTIFY, .code = n->code, .range = n->range };
    struct ppack w;
    struct punpack r;

    if (s->state != PMIX_TALKING || !wants(s, n))
        return false;
    if (n->flags & EVENT_OWN && !(n->flags & EVENT_RECALLED))
        return true; /* the library has notified its handlers itself */
    if (s->as->level >= PTYPE_V4 && !(n->flags & EVENT_RECALLED))
        m.has = PMSG_BIT(event, range);
    punpack_init(&r, n->infos, &ptype_own);
    if (n->infos.len)
        pmsg_read_infos(&r, 0, &kept);
    m.infos.items = kept.infos.items;
    m.infos.n = kept.infos.n;
    pmix_set_proc(&m.source, n->nspace, n->rank);
    w = pmix_writer(s);
    pmsg_write_event(&w, s->release, &m);
    pmix_send(s, 0);
    pmsg_free_infos(&kept, NULL);
    return true;
}
