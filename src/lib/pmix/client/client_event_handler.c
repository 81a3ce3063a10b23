/* client_event_handler.c - see client_event_handler.h.  Reading order: reading the infos; the place
 * in the order; events. */
#include "lib/pmix/client/client_event_handler.h"

#include <stdlib.h>
#include <string.h>

void handler_free(struct handler *h)
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

/* ---- reading the infos ----------------------------------------------------------------------- */

static bool info_is_true(const pmix_info_t *info)
{
    return PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
}

static pmix_status_t take_text(const pmix_info_t *info, char **text_p)
{
    if (info->value.type != PMIX_STRING || !info->value.data.string)
        return PMIX_ERR_BAD_PARAM;
    free(*text_p);
    *text_p = strdup(info->value.data.string);
    return *text_p ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* One process, or an array of them. */
static pmix_status_t take_procs(const pmix_info_t *info, pmix_proc_t **procs_p, size_t *n_p)
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
        n = from ? a->size : 0;
    }
    if (!n)
        return PMIX_ERR_BAD_PARAM;
    free(*procs_p);
    *procs_p = malloc(n * sizeof **procs_p);
    if (!*procs_p)
        return PMIX_ERR_NOMEM;
    memcpy(*procs_p, from, n * sizeof **procs_p);
    *n_p = n;
    return PMIX_SUCCESS;
}

static pmix_status_t take_name(struct handler *h, const pmix_info_t *info)
{
    return take_text(info, &h->name);
}

static pmix_status_t take_before(struct handler *h, const pmix_info_t *info)
{
    return take_text(info, &h->before);
}

static pmix_status_t take_after(struct handler *h, const pmix_info_t *info)
{
    return take_text(info, &h->after);
}

static pmix_status_t take_sources(struct handler *h, const pmix_info_t *info)
{
    return take_procs(info, &h->sources, &h->nsources);
}

static pmix_status_t take_affected(struct handler *h, const pmix_info_t *info)
{
    return take_procs(info, &h->affected, &h->naffected);
}

static pmix_status_t take_range(struct handler *h, const pmix_info_t *info)
{
    if (info->value.type != PMIX_DATA_RANGE || info->value.data.range > PMIX_RANGE_PROC_LOCAL)
        return PMIX_ERR_BAD_PARAM;
    h->range = info->value.data.range;
    return PMIX_SUCCESS;
}

static pmix_status_t take_object(struct handler *h, const pmix_info_t *info)
{
    if (info->value.type != PMIX_POINTER)
        return PMIX_ERR_BAD_PARAM;
    h->object = info->value.data.ptr;
    return PMIX_SUCCESS;
}

static void go_first(struct handler *h)
{
    h->category = FIRST_OF_ALL;
}

static void go_last(struct handler *h)
{
    h->category = LAST_OF_ALL;
}

static void go_behind_all(struct handler *h)
{
    h->category = OBSERVERS;
}

static void go_first_in_category(struct handler *h)
{
    h->place = PLACE_FIRST;
}

static void go_last_in_category(struct handler *h)
{
    h->place = PLACE_LAST;
}

static void go_before_others(struct handler *h)
{
    h->append = false;
}

static void go_behind_others(struct handler *h)
{
    h->append = true;
}

static void serve_once(struct handler *h)
{
    h->one_shot = true;
}

/* What a registration may ask for. */
struct handler_wish {
    const char *key;
    pmix_status_t (*take)(struct handler *h, const pmix_info_t *info);
    void (*set)(struct handler *h); /* instead: of a flag, if it is true */
    bool for_server;                /* hosts of other servers may use it, too */
};

static const struct handler_wish wishes[] = {
    { PMIX_EVENT_HDLR_NAME, take_name, NULL, false },
    { PMIX_EVENT_HDLR_BEFORE, take_before, NULL, false },
    { PMIX_EVENT_HDLR_AFTER, take_after, NULL, false },
    { PMIX_EVENT_CUSTOM_RANGE, take_sources, NULL, false },
    { PMIX_RANGE, take_range, NULL, false },
    { PMIX_EVENT_AFFECTED_PROC, take_affected, NULL, true },
    { PMIX_EVENT_AFFECTED_PROCS, take_affected, NULL, true },
    { PMIX_EVENT_RETURN_OBJECT, take_object, NULL, false },
    { PMIX_EVENT_HDLR_FIRST, NULL, go_first, false },
    { PMIX_EVENT_HDLR_LAST, NULL, go_last, false },
    { HANDLER_OBSERVES, NULL, go_behind_all, false },
    { PMIX_EVENT_HDLR_FIRST_IN_CATEGORY, NULL, go_first_in_category, false },
    { PMIX_EVENT_HDLR_LAST_IN_CATEGORY, NULL, go_last_in_category, false },
    { PMIX_EVENT_HDLR_PREPEND, NULL, go_before_others, false },
    { PMIX_EVENT_HDLR_APPEND, NULL, go_behind_others, false },
    { PMIX_EVENT_ONESHOT, NULL, serve_once, false },
};

static const struct handler_wish *handler_wish_of(const char *key)
{
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        if (PMIx_Check_key(key, wishes[i].key))
            return &wishes[i];
    }
    return NULL;
}

static pmix_status_t take_wish(struct handler *h, const pmix_info_t *info)
{
    const struct handler_wish *w = handler_wish_of(info->key);

    if (!w)
        return PMIX_SUCCESS;
    if (w->take)
        return w->take(h, info);
    if (PMIx_Value_true(&info->value) == PMIX_NON_BOOL)
        return PMIX_ERR_BAD_PARAM;
    if (info_is_true(info))
        w->set(h);
    return PMIX_SUCCESS;
}

bool handler_key_stays(const char *key)
{
    const struct handler_wish *w = handler_wish_of(key);

    return w && !w->for_server;
}

static pmix_status_t take_codes(struct handler *h, const pmix_status_t *codes, size_t n)
{
    if (n == 0)
        return PMIX_SUCCESS;
    h->codes = malloc(n * sizeof *codes);
    if (!h->codes)
        return PMIX_ERR_NOMEM;
    memcpy(h->codes, codes, n * sizeof *codes);
    h->ncodes = n;
    return PMIX_SUCCESS;
}

pmix_status_t handler_new(const pmix_status_t *codes, size_t ncodes, const pmix_info_t *infos,
                          size_t ninfos, struct handler **h_p)
{
    struct handler *h = calloc(1, sizeof *h);
    pmix_status_t rc;

    if (!h)
        return PMIX_ERR_NOMEM;
    list_init(&h->link);
    h->place = PLACE_ANY;
    h->category = ncodes == 0 ? ALL_CODES : ncodes == 1 ? ONE_CODE : SOME_CODES;
    rc = take_codes(h, codes, ncodes);
    for (size_t i = 0; i < ninfos && rc == PMIX_SUCCESS; i++)
        rc = take_wish(h, &infos[i]);
    if (rc == PMIX_SUCCESS)
        *h_p = h;
    else
        handler_free(h);
    return rc;
}

/* ---- the place in the order ----------------------------------------------------- */

static struct handler *at(struct list *l)
{
    return LIST_OF(l, struct handler, link);
}

static struct handler *named(struct handlers *e, const struct handler *like, const char *name)
{
    LIST_EACH(l, &e->all)
    {
        struct handler *h = at(l);
        if (h->category == like->category && !h->removed && h->name && strcmp(h->name, name) == 0)
            return h;
    }
    return NULL;
}

static bool place_is_taken(struct handlers *e, const struct handler *h)
{
    LIST_EACH(l, &e->all)
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
static struct list *successor(struct handlers *e, const struct handler *h)
{
    LIST_EACH(l, &e->all)
    {
        const struct handler *other = at(l);
        if (other->category > h->category)
            return l;
        if (other->category < h->category)
            continue;
        if (other->place > h->place)
            return l;
        if (other->place == h->place && !h->append)
            return l;
    }
    return &e->all;
}

/* NULL: it names a handler that is not there, or not in its own category. */
static struct list *position(struct handlers *e, const struct handler *h)
{
    const char *name = h->before ? h->before : h->after;
    struct handler *mark = name ? named(e, h, name) : NULL;

    if (!name)
        return successor(e, h);
    if (!mark)
        return NULL;
    return h->before ? &mark->link : mark->link.next;
}

pmix_status_t handlers_insert(struct handlers *e, struct handler *h)
{
    struct list *next = place_is_taken(e, h) ? NULL : position(e, h);

    if (!next)
        return PMIX_ERR_EVENT_REGISTRATION;
    h->ref = e->next_ref++;
    list_append(next, &h->link); /* in front of it */
    return PMIX_SUCCESS;
}

struct handler *handlers_find(struct handlers *e, size_t ref)
{
    LIST_EACH(l, &e->all)
    {
        if (at(l)->ref == ref && !at(l)->removed)
            return at(l);
    }
    return NULL;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_among(const pmix_proc_t *procs, size_t n, const pmix_proc_t *p)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_procid(&procs[i], p))
            return true;
    }
    return n == 0;
}

static const pmix_info_t *find_info(const struct client_event *e, const char *key)
{
    for (size_t i = 0; i < e->ninfos; i++) {
        if (PMIx_Check_key(e->infos[i].key, key))
            return &e->infos[i];
    }
    return NULL;
}

/* Whether a process is affected that the handler is registered for; an event that names none may
 * affect all. */
static bool concerns(const struct handler *h, const struct client_event *e)
{
    const pmix_info_t *one = find_info(e, PMIX_EVENT_AFFECTED_PROC);
    const pmix_info_t *many = find_info(e, PMIX_EVENT_AFFECTED_PROCS);
    pmix_proc_t *procs = NULL;
    size_t n = 0;
    bool yes = h->naffected == 0 || (!one && !many);

    if (!yes && take_procs(one ? one : many, &procs, &n) == PMIX_SUCCESS) {
        for (size_t i = 0; i < n && !yes; i++)
            yes = is_among(h->affected, h->naffected, &procs[i]);
    }
    free(procs);
    return yes;
}

static bool is_me(const pmix_proc_t *p, const pmix_proc_t *me)
{
    return p->rank == me->rank && strncmp(p->nspace, me->nspace, PMIX_MAX_NSLEN) == 0;
}

static bool source_fits(const struct handler *h, const struct client_event *e,
                        const pmix_proc_t *me)
{
    switch (h->range) {
    case PMIX_RANGE_NAMESPACE: return PMIx_Check_nspace(e->source.nspace, me->nspace);
    case PMIX_RANGE_PROC_LOCAL: return is_me(&e->source, me);
    case PMIX_RANGE_CUSTOM: return h->nsources && is_among(h->sources, h->nsources, &e->source);
    case PMIX_RANGE_RM: return false; /* the source is a process in any case */
    default: return is_among(h->sources, h->nsources, &e->source);
    }
}

static bool wants_code(const struct handler *h, const struct client_event *e)
{
    const pmix_info_t *non_default;

    for (size_t i = 0; i < h->ncodes; i++) {
        if (h->codes[i] == e->code)
            return true;
    }
    if (h->ncodes)
        return false;
    non_default = find_info(e, PMIX_EVENT_NON_DEFAULT);
    return !non_default || !info_is_true(non_default);
}

bool handler_wants(const struct handler *h, const struct client_event *e, const pmix_proc_t *me)
{
    return wants_code(h, e) && source_fits(h, e, me) && concerns(h, e);
}
