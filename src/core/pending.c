/* pending.c - see pending.h. */
#include "core/pending.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 200 };

void pendings_init(struct pending_list *w, uint64_t seed)
{
    map_init(&w->by_ticket, seed);
    list_init(&w->all);
}

static void drop(struct pending *one)
{
    list_unlink(&one->link);
    free(one);
}

void pendings_free(struct pending_list *w)
{
    LIST_EACH(l, &w->all)
    drop(LIST_OF(l, struct pending, link));
    map_free(&w->by_ticket);
}

static struct slice key_of(const uint64_t *ticket)
{
    return slice_mem(ticket, sizeof *ticket);
}

/* NULL: no memory. */
static struct pending *copy(const struct pending *what, struct slice name)
{
    struct pending *one;

    name = slice_head(name, NAME_SHOWN);
    one = calloc(1, sizeof *one + name.len);
    if (!one)
        return NULL;
    *one = *what;
    list_init(&one->link);
    if (name.len)
        memcpy(one->text, name.ptr, name.len);
    one->name = slice_mem(one->text, name.len);
    return one;
}

void pendings_add(struct pending_list *w, const struct pending *what)
{
    struct pending *one = copy(what, what->name);

    if (!one)
        return;
    pendings_done(w, one->ticket); /* tickets are used once; if not, the later one counts */
    if (map_put(&w->by_ticket, key_of(&one->ticket), one, NULL) < 0)
        drop(one);
    else
        list_append(&w->all, &one->link);
}

void pendings_change(struct pending_list *w, uint64_t ticket, const struct pending *what)
{
    struct pending *old = map_get(&w->by_ticket, key_of(&ticket));
    struct pending *one = old ? copy(old, what->name) : NULL;

    if (!one)
        return;
    one->owner_job = what->owner_job;
    one->owner_rank = what->owner_rank;
    list_append(&old->link, &one->link); /* in its place */
    map_del(&w->by_ticket, key_of(&ticket));
    drop(old);
    if (map_put(&w->by_ticket, key_of(&one->ticket), one, NULL) < 0)
        drop(one);
}

void pendings_done(struct pending_list *w, uint64_t ticket)
{
    struct pending *one = w->by_ticket.count ? map_del(&w->by_ticket, key_of(&ticket)) : NULL;

    if (one)
        drop(one);
}

void pendings_drop(struct pending_list *w, uint64_t first_ticket, uint64_t last_ticket)
{
    LIST_EACH(l, &w->all)
    {
        uint64_t ticket = LIST_OF(l, struct pending, link)->ticket;
        if (ticket >= first_ticket && ticket <= last_ticket)
            pendings_done(w, ticket);
    }
}
