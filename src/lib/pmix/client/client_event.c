/* client_event.c - see client_event.h.  Reading order: registering; the chain; incoming events;
 * deregistering; notifying. */
#include "lib/pmix/client/client_event.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/values/value.h"

/* The calling order. */
enum category { FIRST_OF_ALL, ONE_CODE, SOME_CODES, ALL_CODES, LAST_OF_ALL };

/* Within a category. */
enum place { PLACE_FIRST, PLACE_ANY, PLACE_LAST };

struct handler {
    struct list link;
    size_t ref;
    enum category category; /* where it is called … */
    size_t ncodes;          /* … and its codes: 0: all */
    pmix_status_t *codes;
    enum place place;
    char *name, *before, *after;
    bool prepend, one_shot;
    pmix_data_range_t range;
    pmix_proc_t *sources, *affected;
    size_t nsources, naffected;
    void *object;
    pmix_notification_fn_t fn;
    bool armed;   /* its registration is complete */
    bool removed; /* not called any more; freed when no call of it is under way */
    size_t busy;  /* calls under way */
};

void events_init(struct events *e)
{
    *e = (struct events){ .next_ref = 0 };
    list_init(&e->handlers);
    list_init(&e->waiting);
    list_init(&e->called);
}

static void handler_free(struct handler *h)
{
    if (!h)
        return;
    list_unlink(&h->link);
    free(h->codes);
    free(h->name);
    free(h->before);
    free(h->after);
    free(h->sources);
    free(h->affected);
    free(h);
}

/* ---- registering: reading the infos ---------------------------------------------------------- */

static bool says_yes(const pmix_info_t *info)
{
    return PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
}

static bool take_text(const pmix_info_t *info, char **text_p)
{
    if (info->value.type != PMIX_STRING || !info->value.data.string)
        return true;
    free(*text_p);
    *text_p = strdup(info->value.data.string);
    return *text_p != NULL;
}

/* One process, or an array of them. */
static bool take_procs(const pmix_info_t *info, pmix_proc_t **procs_p, size_t *n_p)
{
    const pmix_data_array_t *a =
        info->value.type == PMIX_DATA_ARRAY ? info->value.data.darray : NULL;
    const pmix_proc_t *from = NULL;
    size_t n = 0;

    if (info->value.type == PMIX_PROC) {
        from = info->value.data.proc;
        n = from != NULL;
    } else if (a && a->type == PMIX_PROC) {
        from = a->array;
        n = a->size;
    }
    if (!n)
        return true;
    free(*procs_p);
    *procs_p = malloc(n * sizeof **procs_p);
    if (!*procs_p)
        return false;
    memcpy(*procs_p, from, n * sizeof **procs_p);
    *n_p = n;
    return true;
}

static bool take_wish(struct handler *h, const pmix_info_t *info)
{
    const char *key = info->key;

    if (PMIx_Check_key(key, PMIX_EVENT_HDLR_NAME))
        return take_text(info, &h->name);
    if (PMIx_Check_key(key, PMIX_EVENT_HDLR_BEFORE))
        return take_text(info, &h->before);
    if (PMIx_Check_key(key, PMIX_EVENT_HDLR_AFTER))
        return take_text(info, &h->after);
    if (PMIx_Check_key(key, PMIX_EVENT_CUSTOM_RANGE))
        return take_procs(info, &h->sources, &h->nsources);
    if (PMIx_Check_key(key, PMIX_EVENT_AFFECTED_PROC) ||
        PMIx_Check_key(key, PMIX_EVENT_AFFECTED_PROCS))
        return take_procs(info, &h->affected, &h->naffected);
    if (PMIx_Check_key(key, PMIX_EVENT_HDLR_FIRST) && says_yes(info))
        h->category = FIRST_OF_ALL;
    else if (PMIx_Check_key(key, PMIX_EVENT_HDLR_LAST) && says_yes(info))
        h->category = LAST_OF_ALL;
    else if (PMIx_Check_key(key, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY) && says_yes(info))
        h->place = PLACE_FIRST;
    else if (PMIx_Check_key(key, PMIX_EVENT_HDLR_LAST_IN_CATEGORY) && says_yes(info))
        h->place = PLACE_LAST;
    else if (PMIx_Check_key(key, PMIX_EVENT_HDLR_PREPEND))
        h->prepend = says_yes(info);
    else if (PMIx_Check_key(key, PMIX_RANGE) && info->value.type == PMIX_DATA_RANGE)
        h->range = info->value.data.range;
    else if (PMIx_Check_key(key, PMIX_EVENT_RETURN_OBJECT))
        h->object = info->value.data.ptr;
    else if (PMIx_Check_key(key, PMIX_EVENT_ONESHOT))
        h->one_shot = says_yes(info);
    return true;
}

static struct handler *handler_new(const pmix_status_t *codes, size_t ncodes,
                                   const pmix_info_t *infos, size_t ninfos)
{
    struct handler *h = calloc(1, sizeof *h);
    bool good = h != NULL;

    if (!h)
        return NULL;
    list_init(&h->link);
    h->place = PLACE_ANY;
    h->category = ncodes == 0 ? ALL_CODES : ncodes == 1 ? ONE_CODE : SOME_CODES;
    if (ncodes) {
        h->codes = malloc(ncodes * sizeof *codes);
        good = h->codes != NULL;
    }
    if (ncodes && good) {
        memcpy(h->codes, codes, ncodes * sizeof *codes);
        h->ncodes = ncodes;
    }
    for (size_t i = 0; i < ninfos && good; i++)
        good = take_wish(h, &infos[i]);
    if (good)
        return h;
    handler_free(h);
    return NULL;
}

/* ---- registering: the place in the order ----------------------------------------------------- */

static struct handler *at(struct list *l)
{
    return LIST_OF(l, struct handler, link);
}

static struct handler *named(struct events *e, const struct handler *like, const char *name)
{
    LIST_EACH(l, &e->handlers)
    {
        struct handler *h = at(l);
        if (h->category == like->category && h->name && strcmp(h->name, name) == 0)
            return h;
    }
    return NULL;
}

static bool place_is_taken(struct events *e, const struct handler *h)
{
    LIST_EACH(l, &e->handlers)
    {
        const struct handler *other = at(l);
        if (other->removed || other->category != h->category)
            continue;
        if (h->category == FIRST_OF_ALL || h->category == LAST_OF_ALL ||
            (h->place != PLACE_ANY && other->place == h->place))
            return true;
    }
    return false;
}

/* The first handler after h in the calling order. */
static struct list *successor(struct events *e, const struct handler *h)
{
    LIST_EACH(l, &e->handlers)
    {
        const struct handler *other = at(l);
        if (other->category > h->category)
            return l;
        if (other->category < h->category)
            continue;
        if (other->place > h->place)
            return l;
        if (other->place == h->place && h->prepend)
            return l;
    }
    return &e->handlers;
}

static pmix_status_t insert(struct events *e, struct handler *h)
{
    struct handler *mark;

    if (place_is_taken(e, h))
        return PMIX_ERR_EVENT_REGISTRATION;
    h->ref = e->next_ref++;
    mark = h->before ? named(e, h, h->before) : NULL;
    if (mark) {
        list_append(&mark->link, &h->link);
        return PMIX_SUCCESS;
    }
    mark = h->after ? named(e, h, h->after) : NULL;
    if (mark)
        list_prepend(&mark->link, &h->link);
    else
        list_append(successor(e, h), &h->link);
    return PMIX_SUCCESS;
}

/* ---- registering: codes at the server -------------------------------------------------------- */

static struct event_code *find_code(struct events *e, pmix_status_t code)
{
    for (size_t i = 0; i < e->ncodes; i++) {
        if (e->codes[i].code == code)
            return &e->codes[i];
    }
    return NULL;
}

/* Counts the handler; *news_p are the codes that no handler had before (malloc'ed). */
static bool count_codes(struct events *e, const struct handler *h, pmix_status_t **news_p,
                        size_t *n_p)
{
    struct event_code *more = realloc(e->codes, (e->ncodes + h->ncodes + 1) * sizeof *more);

    *n_p = 0;
    *news_p = malloc((h->ncodes + 1) * sizeof **news_p);
    if (more)
        e->codes = more;
    if (!more || !*news_p) {
        free(*news_p);
        return false;
    }
    for (size_t i = 0; i < h->ncodes; i++) {
        struct event_code *known = find_code(e, h->codes[i]);
        if (known) {
            known->handlers++;
            continue;
        }
        e->codes[e->ncodes++] = (struct event_code){ h->codes[i], 1 };
        (*news_p)[(*n_p)++] = h->codes[i];
    }
    e->defaults += h->ncodes == 0;
    return true;
}

/* The codes that no handler has any more (malloc'ed, or NULL). */
static pmix_status_t *discount_codes(struct events *e, const struct handler *h, size_t *n_p)
{
    pmix_status_t *gone = malloc((h->ncodes + 1) * sizeof *gone);

    *n_p = 0;
    for (size_t i = 0; i < h->ncodes; i++) {
        struct event_code *known = find_code(e, h->codes[i]);
        if (!known || --known->handlers)
            continue;
        *known = e->codes[--e->ncodes];
        if (gone)
            gone[(*n_p)++] = h->codes[i];
    }
    if (h->ncodes == 0 && --e->defaults == 0 && gone)
        gone[(*n_p)++] = INT_MIN; /* the number that servers keep for "all codes" */
    return gone;
}

/* Infos that the library handles itself. */
static bool stays_here(const char *key)
{
    static const char *const keys[] = {
        PMIX_EVENT_HDLR_NAME,
        PMIX_EVENT_HDLR_FIRST,
        PMIX_EVENT_HDLR_LAST,
        PMIX_EVENT_HDLR_FIRST_IN_CATEGORY,
        PMIX_EVENT_HDLR_LAST_IN_CATEGORY,
        PMIX_EVENT_HDLR_BEFORE,
        PMIX_EVENT_HDLR_AFTER,
        PMIX_EVENT_HDLR_PREPEND,
        PMIX_EVENT_HDLR_APPEND,
        PMIX_EVENT_CUSTOM_RANGE,
        PMIX_RANGE,
        PMIX_EVENT_RETURN_OBJECT,
        PMIX_EVENT_ONESHOT,
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (PMIx_Check_key(key, keys[i]))
            return true;
    }
    return false;
}

static pmix_status_t begin_register(struct client *c, struct message *m, const pmix_status_t *codes,
                                    size_t ncodes, const pmix_info_t *infos, size_t ninfos)
{
    pmix_info_t *sent = calloc(ninfos + 1, sizeof *sent);
    pmix_status_t rc = sent ? message_begin(c, m, CMD_REGEVENTS) : PMIX_ERR_NOMEM;
    size_t n = 0;

    for (size_t i = 0; sent && i < ninfos; i++) {
        if (!stays_here(infos[i].key))
            sent[n++] = infos[i];
    }
    if (rc == PMIX_SUCCESS)
        message_put(m, regevents,
                    { .codes = PMSG_LENT(codes, ncodes), .infos = PMSG_LENT(sent, n) });
    free(sent);
    return rc;
}

/* ---- registering: the calls ------------------------------------------------------------------ */

static struct handler *find_ref(struct events *e, size_t ref)
{
    LIST_EACH(l, &e->handlers)
    {
        if (at(l)->ref == ref && !at(l)->removed)
            return at(l);
    }
    return NULL;
}

static void uncount(struct events *e, const struct handler *h)
{
    size_t n;

    free(discount_codes(e, h, &n));
}

static void retry_waiting(struct client *c);

/* The server has replied: the handler is active from now on, or removed. */
static void settle(struct client *c, size_t ref, pmix_status_t status)
{
    struct handler *h = find_ref(&c->events, ref);

    if (h && status == PMIX_SUCCESS) {
        h->armed = true;
        retry_waiting(c);
    } else if (h) {
        uncount(&c->events, h);
        handler_free(h);
    }
}

/* The program learns of the registration before the first event. */
static void deliver_registered(struct op *op)
{
    struct client *c = op->arg;

    op->callback.registered(op->status, op->out.number, op->cbdata);
    client_lock(c);
    settle(c, op->out.number, op->status);
    client_unlock(c);
}

static const struct op_kind register_kind = { .deliver = deliver_registered };

/* What a new handler needs: a request to the server, or nothing. */
struct registration {
    struct handler *h;
    pmix_status_t *news;
    size_t nnews;
    bool ask;
};

static pmix_status_t prepare(struct client *c, struct registration *g, const pmix_status_t *codes,
                             size_t ncodes, const pmix_info_t *infos, size_t ninfos,
                             pmix_notification_fn_t fn)
{
    pmix_status_t rc;

    if (!fn || (!codes && ncodes) || (!infos && ninfos))
        return PMIX_ERR_BAD_PARAM;
    g->h = handler_new(codes, ncodes, infos, ninfos);
    if (!g->h)
        return PMIX_ERR_NOMEM;
    g->h->fn = fn;
    rc = insert(&c->events, g->h);
    if (rc == PMIX_SUCCESS && !count_codes(&c->events, g->h, &g->news, &g->nnews))
        rc = PMIX_ERR_NOMEM;
    if (rc != PMIX_SUCCESS) {
        handler_free(g->h);
        return rc;
    }
    g->ask =
        c->server && !c->server->lost && (g->nnews || (ncodes == 0 && c->events.defaults == 1));
    return PMIX_SUCCESS;
}

/* Blocking: returns the handler's number, or an error. */
static pmix_status_t register_now(struct client *c, const struct registration *g,
                                  const pmix_info_t *infos, size_t ninfos)
{
    size_t ref = g->h->ref;
    pmix_status_t rc = progress_need(c);
    struct message m;

    if (rc == PMIX_SUCCESS && g->ask)
        rc = begin_register(c, &m, g->news, g->nnews, infos, ninfos);
    if (rc == PMIX_SUCCESS && g->ask)
        rc = api_status_call(&m);
    settle(c, ref, rc);
    return rc == PMIX_SUCCESS ? (pmix_status_t)ref : rc;
}

static pmix_status_t register_nb(struct client *c, const struct registration *g,
                                 const pmix_info_t *infos, size_t ninfos,
                                 pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata)
{
    size_t ref = g->h->ref;
    struct op *op = op_new(&register_kind, cbdata);
    pmix_status_t rc = op ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    struct message m;

    if (op) {
        op->callback.registered = cbfunc;
        op->out.number = ref;
        op->arg = c;
        if (g->ask)
            rc = begin_register(c, &m, g->news, g->nnews, infos, ninfos);
        if (rc != PMIX_SUCCESS)
            op_free(op);
        else if (g->ask)
            rc = progress_post(&m, op);
        else
            rc = progress_complete(c, op, PMIX_SUCCESS);
    }
    if (rc != PMIX_SUCCESS)
        settle(c, ref, rc);
    return rc;
}

pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                          size_t ninfo, pmix_notification_fn_t evhdlr,
                                          pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct registration g = { NULL };
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = prepare(c, &g, codes, ncodes, info, ninfo, evhdlr);
    if (rc == PMIX_SUCCESS)
        rc = cbfunc ? register_nb(c, &g, info, ninfo, cbfunc, cbdata)
                    : register_now(c, &g, info, ninfo);
    free(g.news);
    return api_end(c, rc);
}

/* ---- the chain ------------------------------------------------------------------------------- */

/* An event on its way through the handlers. */
struct chain {
    struct task task;
    struct list link;  /* in events.waiting, or events.called while a handler is called */
    struct lock *gate; /* outlives the client */
    struct client *c;  /* NULL: the client has ended meanwhile */
    pmix_status_t code;
    pmix_proc_t source;
    pmix_data_range_t range;
    pmix_info_t *infos; /* with room for two more: the handler's own */
    size_t ninfos;
    pmix_info_t *results;
    size_t nresults;
    struct handler *handler; /* being called */
    enum category category;  /* the position in the chain, … */
    size_t *called;          /* … and the handlers called so far */
    size_t ncalled;
};

static void chain_free(struct chain *ch)
{
    if (!ch)
        return;
    list_unlink(&ch->link);
    PMIx_Info_free(ch->infos, ch->ninfos);
    PMIx_Info_free(ch->results, ch->nresults);
    free(ch->called);
    free(ch);
}

void events_free(struct events *e)
{
    LIST_EACH(l, &e->handlers)
    handler_free(LIST_OF(l, struct handler, link));
    LIST_EACH(l, &e->waiting)
    chain_free(LIST_OF(l, struct chain, link));
    LIST_EACH(l, &e->called)
    { /* a handler that completes later finds no client */
        list_unlink(l);
        LIST_OF(l, struct chain, link)->c = NULL;
    }
    free(e->codes);
    events_init(e);
}

static void drop_chain(struct task *t)
{
    chain_free(LIST_OF(t, struct chain, task));
}

static bool is_among(const pmix_proc_t *procs, size_t n, const pmix_proc_t *p)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_procid(&procs[i], p))
            return true;
    }
    return n == 0;
}

static const pmix_info_t *find_info(const struct chain *ch, const char *key)
{
    for (size_t i = 0; i < ch->ninfos; i++) {
        if (PMIx_Check_key(ch->infos[i].key, key))
            return &ch->infos[i];
    }
    return NULL;
}

/* Whether a process is affected that the handler is registered for; an event that names none may
 * affect all. */
static bool concerns(const struct handler *h, const struct chain *ch)
{
    const pmix_info_t *one = find_info(ch, PMIX_EVENT_AFFECTED_PROC);
    const pmix_info_t *many = find_info(ch, PMIX_EVENT_AFFECTED_PROCS);
    pmix_proc_t *procs = NULL;
    size_t n = 0;
    bool yes = h->naffected == 0 || (!one && !many);

    if (!yes && take_procs(one ? one : many, &procs, &n)) {
        for (size_t i = 0; i < n && !yes; i++)
            yes = is_among(h->affected, h->naffected, &procs[i]);
    }
    free(procs);
    return yes;
}

static bool source_fits(const struct client *c, const struct handler *h, const struct chain *ch)
{
    switch (h->range) {
    case PMIX_RANGE_NAMESPACE: return PMIx_Check_nspace(ch->source.nspace, c->me.nspace);
    case PMIX_RANGE_PROC_LOCAL: return client_is_me(c, ch->source.nspace, ch->source.rank);
    case PMIX_RANGE_CUSTOM: return is_among(h->sources, h->nsources, &ch->source);
    default: return is_among(h->sources, h->nsources, &ch->source);
    }
}

static bool wants_code(const struct handler *h, const struct chain *ch)
{
    const pmix_info_t *non_default;

    for (size_t i = 0; i < h->ncodes; i++) {
        if (h->codes[i] == ch->code)
            return true;
    }
    if (h->ncodes)
        return false;
    non_default = find_info(ch, PMIX_EVENT_NON_DEFAULT);
    return !non_default || !says_yes(non_default);
}

static bool was_called(const struct chain *ch, size_t ref)
{
    for (size_t i = 0; i < ch->ncalled; i++) {
        if (ch->called[i] == ref)
            return true;
    }
    return false;
}

/* Handlers may be added and removed while the chain is under way. */
static struct handler *next_handler(struct client *c, const struct chain *ch, bool armed)
{
    LIST_EACH(l, &c->events.handlers)
    {
        struct handler *h = at(l);
        if (h->armed == armed && !h->removed && h->category >= ch->category &&
            !was_called(ch, h->ref) && wants_code(h, ch) && source_fits(c, h, ch) &&
            concerns(h, ch))
            return h;
    }
    return NULL;
}

static void handler_completed(pmix_status_t status, pmix_info_t *results, size_t nresults,
                              pmix_op_cbfunc_t cbfunc, void *thiscbdata, void *notification_cbdata);

/* Adds the handler's own infos after the event's. */
static size_t add_own_infos(const struct handler *h, struct chain *ch)
{
    pmix_info_t *info = &ch->infos[ch->ninfos];

    if (h->name) {
        PMIx_Load_key(info->key, PMIX_EVENT_HDLR_NAME);
        info->flags = 0;
        info->value = (pmix_value_t){ .type = PMIX_STRING, .data.string = h->name };
        info++;
    }
    if (h->object) {
        PMIx_Load_key(info->key, PMIX_EVENT_RETURN_OBJECT);
        info->flags = 0;
        info->value = (pmix_value_t){ .type = PMIX_POINTER, .data.ptr = h->object };
        info++;
    }
    return (size_t)(info - ch->infos);
}

static bool note_called(struct chain *ch, const struct handler *h)
{
    size_t *more = realloc(ch->called, (ch->ncalled + 1) * sizeof *more);

    if (!more)
        return false;
    ch->called = more;
    ch->called[ch->ncalled++] = h->ref;
    ch->category = h->category;
    return true;
}

/* One step: the next handler, or the end.  Called without the lock. */
static void run_chain(struct task *t)
{
    struct chain *ch = LIST_OF(t, struct chain, task);
    struct client *c = ch->c;
    struct handler *h;
    size_t n, ref;

    client_lock(c);
    h = next_handler(c, ch, true);
    if (!h || !note_called(ch, h)) {
        chain_free(ch);
        client_unlock(c);
        return;
    }
    h->busy++;
    ch->handler = h;
    list_append(&c->events.called, &ch->link);
    n = add_own_infos(h, ch);
    ref = h->ref;
    client_unlock(c);
    h->fn(ref, ch->code, &ch->source, n ? ch->infos : NULL, n, ch->results, ch->nresults,
          handler_completed, ch);
}

/* "name: status", then the handler's results. */
static bool add_results(struct chain *ch, pmix_status_t status, const pmix_info_t *results,
                        size_t n)
{
    pmix_info_t *more = realloc(ch->results, (ch->nresults + n + 1) * sizeof *more);
    pmix_info_t *info;

    if (!more)
        return false;
    ch->results = more;
    info = &more[ch->nresults++];
    memset(info, 0, sizeof *info);
    PMIx_Load_key(info->key, ch->handler->name ? ch->handler->name : "UNKNOWN");
    info->value = (pmix_value_t){ .type = PMIX_STATUS, .data.status = status };
    for (size_t i = 0; i < n; i++) {
        info = &more[ch->nresults];
        if (PMIx_Info_xfer(info, &results[i]) != PMIX_SUCCESS)
            return false;
        ch->nresults++;
    }
    return true;
}

static void tell_server_gone(struct client *c, const pmix_status_t *codes, size_t n)
{
    struct message m;

    if (!codes || !n || message_begin(c, &m, CMD_DEREGEVENTS) != PMIX_SUCCESS)
        return;
    for (size_t i = 0; i < n; i++)
        pmsg_add_deregevents_codes(&m.w, &codes[i]);
    message_send_alone(&m, 0);
}

/* The handler is not called from now on. */
static void remove_handler(struct client *c, struct handler *h)
{
    size_t n;
    pmix_status_t *gone = discount_codes(&c->events, h, &n);

    h->removed = true;
    tell_server_gone(c, gone, n);
    free(gone);
    if (!h->busy)
        handler_free(h);
}

static void leave_handler(struct client *c, struct handler *h)
{
    h->busy--;
    if (!h->removed && h->one_shot)
        remove_handler(c, h);
    else if (h->removed && !h->busy) {
        handler_free(h);
        lock_tell(c->gate); /* a thread may wait for it */
    }
}

static bool go_on(struct chain *ch, pmix_status_t status, const pmix_info_t *results, size_t n)
{
    struct client *c = ch->c;
    bool more;

    if (!c)
        return false;
    list_unlink(&ch->link);
    more = status != PMIX_EVENT_ACTION_COMPLETE && add_results(ch, status, results, n) &&
           !c->progress.stopping;
    leave_handler(c, ch->handler);
    ch->handler = NULL;
    if (more)
        tasks_add(c, &ch->task);
    return more;
}

/* Called from any thread, during the handler's call or long after it. */
static void handler_completed(pmix_status_t status, pmix_info_t *results, size_t nresults,
                              pmix_op_cbfunc_t cbfunc, void *thiscbdata, void *notification_cbdata)
{
    struct chain *ch = notification_cbdata;
    struct lock *gate = ch->gate;
    bool more;

    lock_lock(gate);
    more = go_on(ch, status, results, nresults);
    lock_unlock(gate);
    if (cbfunc)
        cbfunc(PMIX_SUCCESS, thiscbdata);
    if (more)
        return; /* it may be removed by now */
    lock_lock(gate);
    chain_free(ch);
    lock_unlock(gate);
}

/* Handlers whose registration is not complete get the event as soon as it is. */
static void send_off(struct client *c, struct chain *ch)
{
    if (next_handler(c, ch, false))
        list_append(&c->events.waiting, &ch->link);
    else if (next_handler(c, ch, true))
        tasks_add(c, &ch->task);
    else
        chain_free(ch);
}

static void retry_waiting(struct client *c)
{
    struct list again;

    list_init(&again);
    while (!list_empty(&c->events.waiting)) {
        struct list *l = list_first(&c->events.waiting);
        list_unlink(l);
        list_append(&again, l);
    }
    LIST_EACH(l, &again)
    {
        list_unlink(l);
        send_off(c, LIST_OF(l, struct chain, link));
    }
}

/* The infos are taken over. */
static void start_chain(struct client *c, pmix_status_t code, const pmix_proc_t *source,
                        pmix_data_range_t range, pmix_info_t *infos, size_t n)
{
    struct chain *ch = calloc(1, sizeof *ch);
    pmix_info_t *more = ch ? realloc(infos, (n + 2) * sizeof *more) : NULL;

    if (!more || progress_need(c) != PMIX_SUCCESS) {
        PMIx_Info_free(more ? more : infos, n);
        free(ch);
        return;
    }
    *ch = (struct chain){ .task = { .run = run_chain, .drop = drop_chain },
                          .gate = c->gate,
                          .c = c,
                          .code = code,
                          .source = *source,
                          .range = range,
                          .infos = more,
                          .ninfos = n };
    list_init(&ch->task.link);
    list_init(&ch->link);
    send_off(c, ch);
}

/* ---- incoming events ------------------------------------------------------------------------- */

/* Servers may pass on to all clients what is for some of them. */
static bool is_for_us(const struct client *c, pmix_data_range_t range, const pmix_info_t *infos,
                      size_t n)
{
    bool named = false;

    for (size_t i = 0; i < n && range == PMIX_RANGE_CUSTOM; i++) {
        const pmix_value_t *v = &infos[i].value;
        const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
        const pmix_proc_t *procs = v->type == PMIX_PROC ? v->data.proc : NULL;
        size_t count = procs != NULL;
        if (!PMIx_Check_key(infos[i].key, PMIX_EVENT_CUSTOM_RANGE))
            continue;
        if (a && a->type == PMIX_PROC) {
            procs = a->array;
            count = a->size;
        }
        for (size_t k = 0; k < count; k++) {
            if (PMIx_Check_procid(&procs[k], &c->me))
                return true;
        }
        named = named || count;
    }
    return !named;
}

void event_arrived(struct client *c, struct server_link *s, struct slice bytes)
{
    pmix_data_range_t range = PMIX_RANGE_UNDEF;
    struct pmsg_event m;
    struct punpack r;

    punpack_init(&r, bytes, s->as);
    r.foreign = foreign_objects();
    if (pmsg_read_event(&r, s->release, &m) == PTYPE_FINE && m.command == CMD_NOTIFY) {
        if (PMSG_HAS(&m, event, range))
            range = m.range;
        if (is_for_us(c, range, m.infos.items, m.infos.n)) {
            start_chain(c, m.code, &m.source, range, m.infos.items, m.infos.n);
            m.infos.items = NULL; /* the chain's now */
            m.infos.n = 0;
        }
    }
    pmsg_free_event(&m, r.foreign);
}

void event_lost(struct client *c, struct server_link *s)
{
    if (!list_empty(&c->events.handlers))
        start_chain(c, PMIX_ERR_LOST_CONNECTION, &s->name, PMIX_RANGE_PROC_LOCAL, NULL, 0);
}

/* ---- deregistering --------------------------------------------------------------------------- */

/* No call of it may begin or be under way when we return; but a handler may remove itself. */
static pmix_status_t deregister(struct client *c, size_t ref)
{
    struct handler *h = find_ref(&c->events, ref);

    if (!h)
        return PMIX_ERR_BAD_PARAM;
    remove_handler(c, h);
    return PMIX_SUCCESS;
}

static bool is_busy(struct client *c, size_t ref)
{
    LIST_EACH(l, &c->events.handlers)
    {
        if (at(l)->ref == ref)
            return true;
    }
    return false;
}

pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct client *c = api_begin();
    struct op *op;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = deregister(c, evhdlr_ref);
    if (rc == PMIX_SUCCESS && cbfunc) {
        op = op_new(&op_status_only, cbdata);
        if (!op)
            return api_end(c, PMIX_OPERATION_SUCCEEDED);
        op->callback.op = cbfunc;
        return api_end(c, progress_complete(c, op, PMIX_SUCCESS));
    }
    while (rc == PMIX_SUCCESS && !tasks_inside(c) && is_busy(c, evhdlr_ref))
        lock_wait(c->gate);
    return api_end(c, rc);
}

/* ---- notifying ------------------------------------------------------------------------------- */

static pmix_info_t *copy_infos(const pmix_info_t *infos, size_t n)
{
    pmix_info_t *copy = calloc(n + 2, sizeof *copy);

    for (size_t i = 0; copy && i < n; i++) {
        if (PMIx_Info_xfer(&copy[i], &infos[i]) != PMIX_SUCCESS) {
            PMIx_Info_free(copy, i);
            return NULL;
        }
    }
    return copy;
}

/* Our own handlers first, then all other processes. */
static pmix_status_t notify_here(struct client *c, pmix_status_t status, const pmix_proc_t *source,
                                 pmix_data_range_t range, const pmix_info_t *infos, size_t n)
{
    pmix_info_t *copy;

    if (list_empty(&c->events.handlers))
        return PMIX_SUCCESS;
    copy = copy_infos(infos, n);
    if (!copy)
        return PMIX_ERR_NOMEM;
    start_chain(c, status, source ? source : &c->me, range, copy, n);
    return PMIX_SUCCESS;
}

static pmix_status_t begin_notify(struct client *c, struct message *m, pmix_status_t status,
                                  pmix_data_range_t range, const pmix_info_t *infos, size_t n)
{
    pmix_status_t rc = message_begin(c, m, CMD_NOTIFY);

    if (rc == PMIX_SUCCESS)
        message_put(m, notify, { .code = status, .range = range, .infos = PMSG_LENT(infos, n) });
    return rc;
}

/* Nothing is left to do; a callback is called nevertheless. */
static pmix_status_t told(struct client *c, pmix_status_t rc, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct op *op = rc == PMIX_SUCCESS && cbfunc ? op_new(&op_status_only, cbdata) : NULL;

    if (rc != PMIX_SUCCESS || !cbfunc)
        return rc;
    if (!op)
        return PMIX_ERR_NOMEM;
    op->callback.op = cbfunc;
    return progress_complete(c, op, PMIX_SUCCESS);
}

pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t *source,
                                pmix_data_range_t range, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = !info && ninfo ? PMIX_ERR_BAD_PARAM : notify_here(c, status, source, range, info, ninfo);
    if (rc == PMIX_SUCCESS && (range == PMIX_RANGE_PROC_LOCAL || !c->server))
        return api_end(c, cbfunc ? PMIX_OPERATION_SUCCEEDED : PMIX_SUCCESS);
    if (rc == PMIX_SUCCESS && c->tell_others)
        return api_end(c,
                       told(c, c->tell_others(status, source, range, info, ninfo), cbfunc, cbdata));
    if (rc == PMIX_SUCCESS)
        rc = begin_notify(c, &m, status, range, info, ninfo);
    if (rc == PMIX_SUCCESS)
        rc = cbfunc ? api_status_post(&m, cbfunc, cbdata) : api_status_call(&m);
    return api_end(c, rc);
}
