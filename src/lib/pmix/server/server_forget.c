/* server_forget.c - see server_forget.h. */
#include "lib/pmix/server/server_forget.h"

#include <stdlib.h>
#include <string.h>

#include "lib/pmix/server/server_ask.h"
#include "server/pmix.h"

enum { DEFAULT_EVENT = INT32_MIN }; /* of a handler for all codes, which names none to the host */

static pmix_status_t call_deregister(struct ask *a)
{
    return a->s->module.deregister_events(a->codes, a->ncodes, ask_on_op, a);
}

static const struct ask_kind deregister_kind = { .call = call_deregister };

static bool awaits(const struct peer *p, pmix_status_t code)
{
    size_t n;
    const pmix_status_t *codes = pmix_event_codes(p, &n);

    for (size_t i = 0; i < n; i++) {
        if (codes[i] == code)
            return true;
    }
    return false;
}

static bool is_awaited(const struct pserver *s, pmix_status_t code, const struct peer *but)
{
    LIST_EACH(l, (struct list *)(uintptr_t)&s->server.peers)
    {
        const struct peer *p = LIST_OF(l, const struct peer, link);
        if (p != but && awaits(p, code))
            return true;
    }
    return false;
}

static bool is_listed(const struct ask *a, pmix_status_t code)
{
    for (size_t i = 0; i < a->ncodes; i++) {
        if (a->codes[i] == code)
            return true;
    }
    return false;
}

void forget_events(struct pserver *s, const pmix_status_t *codes, size_t n, const struct peer *but)
{
    struct ask *a = n && s->module.deregister_events ? ask_new(s, &deregister_kind, 0) : NULL;

    if (!a)
        return;
    a->codes = calloc(n, sizeof *a->codes);
    for (size_t i = 0; a->codes && i < n; i++) {
        if (codes[i] != DEFAULT_EVENT && !is_listed(a, codes[i]) && !is_awaited(s, codes[i], but))
            a->codes[a->ncodes++] = codes[i];
    }
    if (a->ncodes)
        ask_go(a);
    else
        ask_free(a);
}

void forget_events_of(struct pserver *s, const struct peer *p)
{
    size_t n;
    const pmix_status_t *codes = pmix_event_codes(p, &n);

    if (n)
        forget_events(s, codes, n, p);
}
