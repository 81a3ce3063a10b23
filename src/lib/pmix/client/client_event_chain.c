/* client_event_chain.c - see client_event_chain.h.  Reading order: the next handler; its call; its
 * completion; starting. */
#include "lib/pmix/client/client_event_chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "lib/pmix/client/client.h"
#include "lib/pmix/client/client_event_codes.h"
#include "lib/pmix/client/client_progress.h"
#include "lib/pmix/values/value.h"

/* An event on its way through the handlers. */
struct chain {
    struct client_task task;
    struct list link;          /* in events.waiting, or events.called while a handler is called */
    struct lock *gate;         /* outlives the client */
    struct client *c;          /* NULL: the client has ended meanwhile */
    bool kept;                 /* without a handler it waits for one */
    struct client_event event; /* its infos have room for two more: the handler's own */
    pmix_info_t *results;
    size_t nresults;
    struct handler *handler;        /* being called */
    enum handler_category category; /* the position in the chain, … */
    size_t *called;                 /* … and the handlers called so far */
    size_t ncalled;
    size_t newer; /* handlers from this number on were registered after the first call */
};

static void chain_free(struct chain *ch)
{
    if (!ch)
        return;
    list_unlink(&ch->link);
    PMIx_Info_free(ch->event.infos, ch->event.ninfos);
    PMIx_Info_free(ch->results, ch->nresults);
    free(ch->called);
    free(ch);
}

void chains_end(struct client *c)
{
    LIST_EACH(l, &c->events.waiting)
    chain_free(LIST_OF(l, struct chain, link));
    LIST_EACH(l, &c->events.called)
    {
        list_unlink(l);
        LIST_OF(l, struct chain, link)->c = NULL;
    }
}

static void drop_chain(struct client_task *t)
{
    chain_free(LIST_OF(t, struct chain, task));
}

static bool was_called(const struct chain *ch, size_t ref)
{
    for (size_t i = 0; i < ch->ncalled; i++) {
        if (ch->called[i] == ref)
            return true;
    }
    return false;
}

/* Handlers may be added and removed while the chain is under way.  One that is added then does not
 * get the event: it is an old one, which others have had. */
static struct handler *next_handler(struct client *c, const struct chain *ch, bool armed)
{
    LIST_EACH(l, &c->events.handlers.all)
    {
        struct handler *h = LIST_OF(l, struct handler, link);
        if (h->armed == armed && !h->removed && h->category >= ch->category &&
            (ch->ncalled == 0 || h->ref < ch->newer) && !was_called(ch, h->ref) &&
            handler_wants(h, &ch->event, &c->me))
            return h;
    }
    return NULL;
}

static void handler_completed(pmix_status_t status, pmix_info_t *results, size_t nresults,
                              pmix_op_cbfunc_t cbfunc, void *thiscbdata, void *notification_cbdata);

/* Adds the handler's own infos after the event's. */
static size_t add_own_infos(const struct handler *h, struct chain *ch)
{
    pmix_info_t *info = &ch->event.infos[ch->event.ninfos];

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
    return (size_t)(info - ch->event.infos);
}

static bool note_called(struct chain *ch, const struct handler *h)
{
    size_t *more = realloc(ch->called, (ch->ncalled + 1) * sizeof *more);

    if (!more)
        return false;
    if (ch->ncalled == 0)
        ch->newer = ch->c->events.handlers.next_ref;
    ch->called = more;
    ch->called[ch->ncalled++] = h->ref;
    ch->category = h->category;
    return true;
}

/* One step: the next handler, or the end.  Called without the lock. */
static void run_chain(struct client_task *t)
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
    h->fn(ref, ch->event.code, &ch->event.source, n ? ch->event.infos : NULL, n, ch->results,
          ch->nresults, handler_completed, ch);
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

void chain_remove_handler(struct client *c, struct handler *h)
{
    event_codes_remove(c, h);
    h->removed = true;
    if (!h->busy)
        handler_free(h);
}

static void leave_handler(struct client *c, struct handler *h)
{
    h->busy--;
    if (!h->removed && h->one_shot)
        chain_remove_handler(c, h);
    else if (h->removed && !h->busy) {
        handler_free(h);
        lock_wake(c->gate); /* a thread may wait for it */
    }
}

static bool go_on(struct chain *ch, pmix_status_t status, const pmix_info_t *results, size_t n)
{
    struct client *c = ch->c;
    bool more;

    if (!c)
        return false;
    list_unlink(&ch->link);
    more = add_results(ch, status, results, n) && !c->progress.stopping;
    if (status == PMIX_EVENT_ACTION_COMPLETE)
        ch->category = OBSERVERS;
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

/* The oldest events make room. */
static void wait_for_handler(struct client_events *e, struct chain *ch)
{
    if (e->nwaiting == LIMIT_EVENTS_KEPT)
        chain_free(LIST_OF(list_first(&e->waiting), struct chain, link));
    else
        e->nwaiting++;
    list_append(&e->waiting, &ch->link);
}

/* Handlers whose registration is not complete get the event as soon as it is. */
static void send_off(struct client *c, struct chain *ch)
{
    if (next_handler(c, ch, false))
        wait_for_handler(&c->events, ch);
    else if (next_handler(c, ch, true) && progress_need(c) == PMIX_SUCCESS)
        tasks_add(c, &ch->task);
    else if (ch->kept)
        wait_for_handler(&c->events, ch);
    else
        chain_free(ch);
}

void chains_retry(struct client *c)
{
    struct list again;

    list_init(&again);
    while (!list_empty(&c->events.waiting)) {
        struct list *l = list_first(&c->events.waiting);
        list_unlink(l);
        list_append(&again, l);
    }
    c->events.nwaiting = 0;
    LIST_EACH(l, &again)
    {
        list_unlink(l);
        send_off(c, LIST_OF(l, struct chain, link));
    }
}

void chain_start(struct client *c, pmix_status_t code, const pmix_proc_t *source,
                 pmix_info_t *infos, size_t n, bool kept)
{
    struct chain *ch = calloc(1, sizeof *ch);
    pmix_info_t *more = ch ? realloc(infos, (n + 2) * sizeof *more) : NULL;

    if (!more) {
        PMIx_Info_free(infos, n);
        free(ch);
        return;
    }
    *ch = (struct chain){ .task = { .run = run_chain, .drop = drop_chain },
                          .gate = c->gate,
                          .c = c,
                          .kept = kept,
                          .event = { code, *source, more, n } };
    list_init(&ch->task.link);
    list_init(&ch->link);
    send_off(c, ch);
}
