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

/* ---- reading the infos  ---------------------------------------------------------- */

static bool info_is_true(const pmix_info_t *info)
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
    if (PMIx_Check_key(key, PMIX_EVENT_HDLR_FIRST) && info_is_true(info))
        h->category = FIRST_OF_ALL;
    else if (PMIx_Check_key(key, PMIX_EVENT_HDLR_LAST) && info_is_true(info))
        h->category = LAST_OF_ALL;
    else if (PMIx_Check_key(key, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY) && info_is_true(info))
        h->place = PLACE_FIRST;
    else if (PMIx_Check_key(key, PMIX_EVENT_HDLR_LAST_IN_CATEGORY) && info_is_true(info))
        h->place = PLACE_LAST;
    else if (PMIx_Check_key(key, PMIX_EVENT_HDLR_PREPEND))
        h->prepend = info_is_true(info);
    else if (PMIx_Check_key(key, PMIX_RANGE) && info->value.type == PMIX_DATA_RANGE)
        h->range = info->value.data.range;
    else if (PMIx_Check_key(key, PMIX_EVENT_RETURN_OBJECT))
        h->object = info->value.data.ptr;
    else if (PMIx_Check_key(key, PMIX_EVENT_ONESHOT))
        h->one_shot = info_is_true(info);
    return true;
}

struct handler *handler_new(const pmix_status_t *codes, size_t ncodes, const pmix_info_t *infos,
                            size_t ninfos)
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

bool handler_key_stays(const char *key)
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
        if (h->category == like->category && h->name && strcmp(h->name, name) == 0)
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
        if (other->place == h->place && h->prepend)
            return l;
    }
    return &e->all;
}

pmix_status_t handlers_insert(struct handlers *e, struct handler *h)
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

struct handler *handlers_find(struct handlers *e, size_t ref)
{
    LIST_EACH(l, &e->all)
    {
        if (at(l)->ref == ref && !at(l)->removed)
            return at(l);
    }
    return NULL;
}

/* ---- events ------------------------------------------------------------------------------------
 */

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

    if (!yes && take_procs(one ? one : many, &procs, &n)) {
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
    case PMIX_RANGE_CUSTOM: return is_among(h->sources, h->nsources, &e->source);
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
