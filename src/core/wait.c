/* wait.c - see wait.h. */
#include "core/wait.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 200 };

void waits_init(struct waits *w, uint64_t seed)
{
    map_init(&w->by_ticket, seed);
    list_init(&w->all);
}

static void drop(struct wait *one)
{
    list_unlink(&one->link);
    free(one);
}

void waits_free(struct waits *w)
{
    LIST_EACH(l, &w->all)
    drop(LIST_OF(l, struct wait, link));
    map_free(&w->by_ticket);
}

static struct slice key_of(const uint64_t *ticket)
{
    return slice_mem(ticket, sizeof *ticket);
}

void waits_add(struct waits *w, const struct wait *what)
{
    struct slice name = slice_head(what->name, NAME_SHOWN);
    struct wait *one = calloc(1, sizeof *one + name.len);

    if (!one)
        return;
    *one = *what;
    list_init(&one->link);
    if (name.len)
        memcpy(one->text, name.ptr, name.len);
    one->name = slice_mem(one->text, name.len);
    waits_done(w, one->ticket); /* tickets are used once; if not, the later one counts */
    if (map_put(&w->by_ticket, key_of(&one->ticket), one, NULL) < 0)
        drop(one);
    else
        list_append(&w->all, &one->link);
}

void waits_done(struct waits *w, uint64_t ticket)
{
    struct wait *one = w->by_ticket.count ? map_del(&w->by_ticket, key_of(&ticket)) : NULL;

    if (one)
        drop(one);
}

void waits_drop(struct waits *w, uint64_t first_ticket, uint64_t last_ticket)
{
    LIST_EACH(l, &w->all)
    {
        uint64_t ticket = LIST_OF(l, struct wait, link)->ticket;
        if (ticket >= first_ticket && ticket <= last_ticket)
            waits_done(w, ticket);
    }
}
