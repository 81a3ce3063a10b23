/* spawn_grant.c - see spawn_grant.h. */
#include "daemon/spawn_grant.h"

#include <stdlib.h>

#include "base/clock.h"
#include "daemon/cospawn.h"
#include "daemon/scheduler.h"
#include "daemon/spawn_wish.h"
#include "server/pmix_scheduler.h"

enum { SPAWN_GRANT_INFOS = 1 << 20 };

struct spawn_grant {
    struct list link;
    uint32_t number;
    struct spawn_held *held;
};

static struct spawn_held *release(struct spawn_grant *k)
{
    struct spawn_held *h = k->held;

    list_unlink(&k->link);
    free(k);
    return h;
}

static void is_late(struct spawn_held *h)
{
    struct spawn_grants *g = h->holder;

    LIST_EACH(l, &g->all)
    {
        struct spawn_grant *k = LIST_OF(l, struct spawn_grant, link);
        uint32_t number = k->number;
        if (k->held != h)
            continue;
        release(k);
        g->late(g->arg, number, h);
        return;
    }
}

/* The number of the request; 0: it has not been asked. */
static uint32_t ask(struct scheduler *s, const struct spawn_held *h,
                    const struct reservation_wish *w)
{
    struct buf infos = BUF_NULL(SPAWN_GRANT_INFOS);
    uint32_t number = 0;

    pmix_wish_infos(w, (uint32_t)(w->duration_ns / NS_PER_S), &infos);
    if (buf_ok(&infos))
        number = scheduler_ask_new(s, h->job, h->request->requestor, w, buf_slice(&infos));
    buf_free(&infos);
    return number;
}

static bool wants(const struct spawn_held *h, struct reservation_wish *w)
{
    struct errmsg err;
    bool wanted = false;

    return !cospawn_is_wanted(h->request) && spawn_wish_read(h->request, w, &wanted, &err) == 0 &&
           wanted;
}

bool spawn_grant_ask(struct spawn_grants *g, struct scheduler *s, const struct spawn_held *h)
{
    struct reservation_wish w;
    struct spawn_grant *k = wants(h, &w) ? calloc(1, sizeof *k) : NULL;

    if (!k)
        return false;
    k->held = spawn_held_copy(h, g->loop, is_late, g);
    k->number = k->held ? ask(s, h, &w) : 0;
    list_append(&g->all, &k->link);
    if (k->number)
        return true;
    if (k->held)
        spawn_held_free(k->held);
    release(k);
    return false;
}

struct spawn_held *spawn_grant_take(struct spawn_grants *g, uint32_t number)
{
    LIST_EACH(l, &g->all)
    {
        struct spawn_grant *k = LIST_OF(l, struct spawn_grant, link);
        if (k->number == number)
            return release(k);
    }
    return NULL;
}

struct spawn_held *spawn_grant_take_any(struct spawn_grants *g)
{
    struct list *first = list_first(&g->all);

    return first ? release(LIST_OF(first, struct spawn_grant, link)) : NULL;
}

void spawn_grants_open(struct spawn_grants *g, struct loop *loop, spawn_grant_late_fn *late,
                       void *arg)
{
    *g = (struct spawn_grants){ .loop = loop, .late = late, .arg = arg };
    list_init(&g->all);
}

void spawn_grants_close(struct spawn_grants *g)
{
    struct spawn_held *h;

    while (g->all.next && (h = spawn_grant_take_any(g)))
        spawn_held_free(h);
    g->all.next = NULL;
}
