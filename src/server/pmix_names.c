/* pmix_names.c - see pmix_names.h. */
#include "server/pmix_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/modex.h"
#include "core/request.h"
#include "server/pmix_batch.h"
#include "server/pmix_value.h"

/* ---- requests -------------------------------------------------------------------------------- */

static void ask_name(struct command *c, struct pmix_batch *b, struct request rq,
                     struct slice service)
{
    struct pmix_pending *p = pmix_batch_ask(c, b, rq);

    if (p)
        p->key = strndup(service.ptr ? service.ptr : "", service.len);
}

static bool is_directive(const char *key)
{
    static const char *const words[] = {
        PMIX_RANGE, PMIX_PERSISTENCE,       PMIX_USERID, PMIX_GRPID, PMIX_TIMEOUT,
        PMIX_WAIT,  PMIX_ACCESS_PERMISSIONS
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strcmp(key, words[i]))
            return true;
    }
    return false;
}

/* The session is the launcher's: it ends with the launcher, and not with a job. */
static enum name_life life_of(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(infos[i].key, PMIX_PERSISTENCE) != 0 || infos[i].value.type != PMIX_PERSIST)
            continue;
        switch (infos[i].value.data.persist) {
        case PMIX_PERSIST_INDEF:
        case PMIX_PERSIST_SESSION: return NAME_STAYS;
        case PMIX_PERSIST_FIRST_READ: return NAME_READ_ONCE;
        default: return NAME_OF_JOB;
        }
    }
    return NAME_OF_JOB;
}

static void publish_one(struct command *c, struct pmix_batch *b, pmix_info_t *info,
                        enum name_life life)
{
    bool plain = info->value.type == PMIX_STRING;
    struct slice service = pmix_keep(c, slice_str(info->key));

    ask_name(c, b,
             REQUEST_WITH(publish, .service = service, .life = life,
                          .type = plain ? 0 : info->value.type,
                          .port = plain ? pmix_keep(c, slice_str(info->value.data.string))
                                        : pmix_keep_value(c, &info->value)),
             service);
}

void pmix_read_publish(struct command *c)
{
    struct pmix_batch *b = pmix_batch_new(c);
    struct pmsg_publish m;

    pmsg_read_publish(&c->r, c->s->release, &m);
    for (size_t i = 0; b && i < m.infos.n && punpack_ok(&c->r); i++) {
        if (!is_directive(m.infos.items[i].key))
            publish_one(c, b, &m.infos.items[i], life_of(m.infos.items, m.infos.n));
    }
    pmsg_free_publish(&m, NULL);
    pmix_batch_end(c, b, PMIX_ERR_BAD_PARAM);
}

static void read_wait(struct request_lookup *rq, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_WAIT))
            rq->wait = true;
        else if (!strcmp(infos[i].key, PMIX_TIMEOUT))
            rq->timeout_ns = pmix_seconds_of(&infos[i].value);
    }
}

void pmix_read_keys(struct command *c)
{
    struct request_lookup lookup = { .wait = false };
    struct pmix_batch *b = pmix_batch_new(c);
    struct pmsg_keys m;

    pmsg_read_keys(&c->r, c->s->release, &m);
    read_wait(&lookup, m.infos.items, m.infos.n);
    for (size_t i = 0; b && i < m.keys.n && punpack_ok(&c->r) && !c->no_memory; i++) {
        lookup.service = m.keys.items[i];
        if (lookup.service.len)
            ask_name(c, b,
                     c->cmd == CMD_LOOKUP
                         ? (struct request){ .kind = REQ_lookup, .u.lookup = lookup }
                         : REQUEST_WITH(unpublish, .service = lookup.service),
                     lookup.service);
    }
    pmsg_free_keys(&m, NULL);
    pmix_batch_end(c, b, PMIX_ERR_BAD_PARAM);
}

/* ---- replies --------------------------------------------------------------------------------- */

/* Room for one more; memory grows as names are found.  NULL: there is no memory. */
static pmix_pdata_t *room_for(struct pmix_batch *b, size_t bytes)
{
    pmix_pdata_t *more = b->found;

    if (bytes > LIMIT_CLIENT_QUEUE - b->bytes)
        return NULL;
    if ((b->nfound & (b->nfound - 1)) == 0)
        more = realloc(b->found, (b->nfound ? b->nfound * 2 : 1) * sizeof *more);
    if (!more)
        return NULL;
    b->found = more;
    return memset(&more[b->nfound], 0, sizeof *more);
}

static void add_found(const struct pmix_pending *p, const struct answer *a)
{
    struct answer_lookup found = answer_to_lookup(a);
    struct pmix_batch *b = p->batch;
    pmix_pdata_t *d = room_for(b, found.port.len);

    if (!d || !pmix_value_of(found.type ? found.type : MODEX_STRING, found.port, &d->value)) {
        b->worst = ANSWER_NO_MEMORY;
        return;
    }
    strncpy(d->proc.nspace, found.job ? found.job->nspace : "", PMIX_MAX_NSLEN);
    d->proc.rank = found.job ? found.rank : PMIX_RANK_UNDEF;
    strncpy(d->key, p->key ? p->key : "", PMIX_MAX_KEYLEN);
    b->bytes += found.port.len;
    b->nfound++;
}

static void send_found(struct pmix_session *s, uint32_t tag, const struct pmix_batch *b)
{
    const struct pmsg_found m = {
        .has = PMSG_BIT(found, found),
        .status = b->worst == ANSWER_OK ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS,
        .found = PMSG_LENT(b->found, b->nfound),
    };
    struct ppack w = pmix_writer(s);

    pmsg_write_found(&w, s->release, &m);
    pmix_send(s, tag);
}

void pmix_reply_names(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct pmix_batch *b = p->batch;

    if (a->status != ANSWER_OK)
        b->worst = a->status;
    else if (p->cmd == CMD_LOOKUP)
        add_found(p, a);
    if (b->left > 1)
        ; /* the reply waits for the others */
    else if (p->cmd == CMD_LOOKUP && b->nfound)
        send_found(s, p->tag, b);
    else
        pmix_reply_status(s, p->tag, pmix_status_of(b->worst));
    pmix_batch_leave(b);
}
