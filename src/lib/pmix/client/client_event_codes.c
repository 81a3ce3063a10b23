/* client_event_codes.c - see client_event_codes.h. */
#include "lib/pmix/client/client_event_codes.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/pmix/client/client.h"
#include "lib/pmix/client/client_event_handler.h"

static struct event_code *find_code(struct event_codes *e, pmix_status_t code)
{
    for (size_t i = 0; i < e->n; i++) {
        if (e->all[i].code == code)
            return &e->all[i];
    }
    return NULL;
}

bool event_codes_add(struct event_codes *e, const struct handler *h, pmix_status_t **news_p,
                     size_t *n_p)
{
    struct event_code *more = realloc(e->all, (e->n + h->ncodes + 1) * sizeof *more);

    *n_p = 0;
    *news_p = malloc((h->ncodes + 1) * sizeof **news_p);
    if (more)
        e->all = more;
    if (!more || !*news_p) {
        free(*news_p);
        *news_p = NULL;
        return false;
    }
    for (size_t i = 0; i < h->ncodes; i++) {
        struct event_code *known = find_code(e, h->codes[i]);
        if (known) {
            known->handlers++;
            continue;
        }
        e->all[e->n++] = (struct event_code){ h->codes[i], 1 };
        (*news_p)[(*n_p)++] = h->codes[i];
    }
    e->defaults += h->ncodes == 0;
    return true;
}

/* The codes that no handler has any more (malloc'ed, or NULL). */
static pmix_status_t *discount_codes(struct event_codes *e, const struct handler *h, size_t *n_p)
{
    pmix_status_t *gone = malloc((h->ncodes + 1) * sizeof *gone);

    *n_p = 0;
    for (size_t i = 0; i < h->ncodes; i++) {
        struct event_code *known = find_code(e, h->codes[i]);
        if (!known || --known->handlers)
            continue;
        *known = e->all[--e->n];
        if (gone)
            gone[(*n_p)++] = h->codes[i];
    }
    if (h->ncodes == 0 && --e->defaults == 0 && gone)
        gone[(*n_p)++] = INT_MIN; /* the number that servers keep for "all codes" */
    return gone;
}

pmix_status_t event_codes_begin(struct client *c, struct message *m, const pmix_status_t *codes,
                                size_t ncodes, const pmix_info_t *infos, size_t ninfos)
{
    pmix_info_t *sent = calloc(ninfos + 1, sizeof *sent);
    pmix_status_t rc = sent ? message_begin(c, m, CMD_REGEVENTS) : PMIX_ERR_NOMEM;
    size_t n = 0;

    for (size_t i = 0; sent && i < ninfos; i++) {
        if (!handler_key_stays(infos[i].key))
            sent[n++] = infos[i];
    }
    if (rc == PMIX_SUCCESS)
        message_put(m, regevents,
                    { .codes = PMSG_LENT(codes, ncodes), .infos = PMSG_LENT(sent, n) });
    free(sent);
    return rc;
}

void event_codes_drop(struct event_codes *e, const struct handler *h)
{
    size_t n;

    free(discount_codes(e, h, &n));
}

static void notify_server_gone(struct client *c, const pmix_status_t *codes, size_t n)
{
    struct message m;

    if (!codes || !n || message_begin(c, &m, CMD_DEREGEVENTS) != PMIX_SUCCESS)
        return;
    for (size_t i = 0; i < n; i++)
        pmsg_add_deregevents_codes(&m.w, &codes[i]);
    message_send_alone(&m, 0);
}

void event_codes_remove(struct client *c, const struct handler *h)
{
    size_t n;
    pmix_status_t *gone = discount_codes(&c->events.codes, h, &n);

    notify_server_gone(c, gone, n);
    free(gone);
}

/* No codes: all of them. */
static void register_codes(struct client *c, const pmix_status_t *codes, size_t n)
{
    struct message m;

    if (event_codes_begin(c, &m, codes, n, NULL, 0) == PMIX_SUCCESS)
        message_send_alone(&m, 0);
}

void event_codes_register_all(struct client *c)
{
    const struct event_codes *e = &c->events.codes;
    pmix_status_t *codes = malloc((e->n + 1) * sizeof *codes);

    for (size_t i = 0; codes && i < e->n; i++)
        codes[i] = e->all[i].code;
    if (codes && e->n)
        register_codes(c, codes, e->n);
    if (e->defaults)
        register_codes(c, NULL, 0);
    free(codes);
}
