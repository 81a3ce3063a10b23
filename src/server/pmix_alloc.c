/* pmix_alloc.c - see pmix_alloc.h. */
#include "server/pmix_alloc.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/request.h"
#include "core/reservation.h"
#include "server/pmix_value.h"

/* ---- allocations ----------------------------------------------------------------------------- */

static pmix_status_t take_number(const pmix_value_t *v, uint64_t *to)
{
    *to = pmix_number_of(v);
    return *to ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

pmix_status_t pmix_alloc_time(const pmix_value_t *v, uint32_t *to)
{
    uint64_t seconds = 0;

    if (v->type == PMIX_STRING) {
        if (!slice_u32(slice_str(v->data.string ? v->data.string : ""), to))
            return PMIX_ERR_BAD_PARAM;
        seconds = *to;
    } else if (pmix_is_number(v)) {
        seconds = pmix_number_of(v);
    }
    *to = (uint32_t)seconds;
    return seconds && seconds < UINT32_MAX ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t take_text(struct command *c, const pmix_info_t *info, struct slice *to)
{
    const char *text = pmix_text_of(info);

    *to = text ? pmix_keep(c, slice_str(text)) : SLICE_NULL;
    return to->len ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/* Nobody asks for others. */
static pmix_status_t check_id(const pmix_value_t *v, uint32_t is)
{
    return pmix_number_of(v) == is ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS;
}

static pmix_status_t take_info(struct command *c, const pmix_info_t *info,
                               struct request_allocate *rq)
{
    const struct peer *p = c->s->base.peer;
    const pmix_value_t *v = &info->value;

    if (!strcmp(info->key, PMIX_ALLOC_ID))
        return take_text(c, info, &rq->id);
    if (!strcmp(info->key, PMIX_ALLOC_REQ_ID))
        return take_text(c, info, &rq->req_id);
    if (!strcmp(info->key, PMIX_SESSION_ID))
        rq->session = (uint32_t)pmix_number_of(v);
    if (!strcmp(info->key, PMIX_ALLOC_NODE_LIST))
        return take_text(c, info, &rq->nodes);
    if (!strcmp(info->key, PMIX_ALLOC_EXCLUDE))
        return take_text(c, info, &rq->exclude);
    if (!strcmp(info->key, PMIX_ALLOC_NUM_NODES))
        return take_number(v, &rq->num_nodes);
    if (!strcmp(info->key, PMIX_ALLOC_NUM_CPUS))
        return take_number(v, &rq->num_cpus);
    if (!strcmp(info->key, PMIX_ALLOC_TIME))
        return pmix_alloc_time(v, &rq->seconds);
    if (!strcmp(info->key, PMIX_USERID))
        return check_id(v, p->uid);
    if (!strcmp(info->key, PMIX_GRPID))
        return check_id(v, p->gid);
    return PMIX_SUCCESS;
}

static bool is_ours(uint8_t directive)
{
    return directive >= PMIX_ALLOC_NEW && directive <= PMIX_ALLOC_REQ_CANCEL;
}

void pmix_read_alloc(struct command *c)
{
    struct pmsg_alloc m;

    if (pmsg_read_alloc(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct request_allocate rq = { .directive = m.directive };
        pmix_status_t status = is_ours(m.directive) ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
        for (size_t i = 0; i < m.infos.n && status == PMIX_SUCCESS; i++)
            status = take_info(c, &m.infos.items[i], &rq);
        if (m.infos.n)
            rq.infos = pmix_keep_packed(c, m.infos.items, m.infos.n);
        if (status == PMIX_SUCCESS)
            pmix_ask(c, (struct request){ .kind = REQ_allocate, .u.allocate = rq });
        else
            pmix_reply_status(c->s, c->tag, status);
    }
    pmsg_free_alloc(&m, NULL);
}

static uint64_t count_words(struct slice words)
{
    uint64_t n = 0;

    while (words.len) {
        slice_cut(&words, ',');
        n++;
    }
    return n;
}

void pmix_alloc_infos(struct info_array *l, const struct answer *a)
{
    struct answer_allocate r = answer_to_allocate(a);

    if (r.id.len) /* else the nodes are in none */
        info_array_slice(l, PMIX_ALLOC_ID, r.id);
    info_array_u32(l, PMIX_SESSION_ID, (uint32_t)r.session);
    if (r.nodes.len) {
        info_array_slice(l, PMIX_ALLOC_NODE_LIST, r.nodes);
        info_array_u64(l, PMIX_ALLOC_NUM_NODES, count_words(r.nodes));
    }
    if (r.seconds)
        info_array_u32(l, PMIX_TIME_REMAINING, r.seconds);
}

static void send_infos(struct pmix_session *s, uint32_t tag, pmix_status_t status,
                       pmix_info_t *items, size_t n, bool no_memory)
{
    struct pmsg_status_infos m = { .has = PMSG_BIT(status_infos, infos), .status = status };
    struct ppack w = pmix_writer(s);

    m.infos.n = n;
    m.infos.items = items;
    pmsg_write_status_infos(&w, s->release, &m);
    if (no_memory)
        w.error = PTYPE_NO_MEMORY;
    pmix_send_or_fail(s, tag, &w);
}

/* The infos are whole already. */
static void reply_of_scheduler(struct pmix_session *s, uint32_t tag,
                               const struct answer_allocate *r)
{
    struct pmsg_infos m = { .has = 0 };
    struct punpack in;

    punpack_init(&in, r->nodes, &ptype_own);
    if (r->nodes.len && pmsg_read_infos(&in, 0, &m) != PTYPE_FINE)
        pmix_reply_status(s, tag, PMIX_ERR_NOMEM);
    else
        send_infos(s, tag, (pmix_status_t)r->session, m.infos.items, m.infos.n, false);
    pmsg_free_infos(&m, NULL);
}

/* With the reason, if the launcher has told one. */
static void reply_refusal(struct pmix_session *s, uint32_t tag, pmix_status_t status,
                          struct slice why)
{
    struct info_array l = { .items = NULL };

    if (!why.len) {
        pmix_reply_status(s, tag, status);
        return;
    }
    info_array_slice(&l, PMIX_EVENT_TEXT_MESSAGE, why);
    send_infos(s, tag, status, l.items, l.n, l.no_memory);
    info_array_free(&l);
}

void pmix_reply_alloc(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct answer_allocate r = answer_to_allocate(a);
    struct info_array l = { .items = NULL };

    if (a->status != ANSWER_OK) {
        reply_refusal(s, p->tag,
                      a->status == ANSWER_FAILED ? PMIX_ERR_NOT_SUPPORTED
                                                 : pmix_status_of(a->status),
                      a->text);
    } else if (r.of_scheduler) {
        reply_of_scheduler(s, p->tag, &r);
    } else {
        pmix_alloc_infos(&l, a);
        if (p->key)
            info_array_text(&l, PMIX_SESSION_CTRL_ID, p->key);
        send_infos(s, p->tag, PMIX_SUCCESS, l.items, l.n, l.no_memory);
        info_array_free(&l);
    }
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* One of them is what is wanted. */
static const struct session_word {
    const char *key;
    uint8_t directive;
    int signal; /* 0: the value */
} session_words[] = {
    { PMIX_SESSION_TERMINATE, RESERVATION_TERMINATE, SIGTERM },
    { PMIX_SESSION_COMPLETE, RESERVATION_COMPLETE, SIGTERM },
    { PMIX_SESSION_PREEMPT, RESERVATION_PREEMPT, SIGSTOP },
    { PMIX_SESSION_RESTORE, RESERVATION_RESTORE, SIGCONT },
    { PMIX_SESSION_PAUSE, RESERVATION_SIGNAL, SIGSTOP },
    { PMIX_SESSION_RESUME, RESERVATION_SIGNAL, SIGCONT },
    { PMIX_SESSION_SIGNAL, RESERVATION_SIGNAL, 0 },
};

/* How many of the infos say what to do; the last one counts. */
static size_t read_session_words(const pmix_info_t *infos, size_t n, struct request_allocate *rq)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < sizeof session_words / sizeof *session_words; w++) {
            const struct session_word *word = &session_words[w];
            if (strcmp(infos[i].key, word->key) != 0 ||
                (word->signal && !pmix_flag_of(&infos[i].value)))
                continue;
            rq->directive = word->directive;
            rq->signal = word->signal ? word->signal : (int)pmix_number_of(&infos[i].value);
            found++;
        }
    }
    return found;
}

/* The answer has the id, too. */
static void name_request(struct command *c, struct pmix_pending *p, const char *id)
{
    if (p && id)
        p->key = strdup(id);
    c->no_memory = c->no_memory || (p && id && !p->key);
}

void pmix_read_session_control(struct command *c)
{
    struct pmsg_session_control m;

    if (pmsg_read_session_control(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct request_allocate rq = { .session = m.session };
        if (read_session_words(m.infos.items, m.infos.n, &rq) == 1)
            name_request(c, pmix_ask(c, (struct request){ .kind = REQ_allocate, .u.allocate = rq }),
                         info_find_text(m.infos.items, m.infos.n, PMIX_SESSION_CTRL_ID));
        else
            pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
    }
    pmsg_free_session_control(&m, NULL);
}

void pmix_reply_session_control(struct pmix_session *s, struct pmix_pending *p,
                                const struct answer *a)
{
    if (a->status == ANSWER_OVER_QUOTA) /* it has jobs */
        reply_refusal(s, p->tag, PMIX_ERR_RESOURCE_BUSY, a->text);
    else
        pmix_reply_alloc(s, p, a);
}
