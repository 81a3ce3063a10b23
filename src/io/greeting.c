/* greeting.c - see greeting.h. */
#include "io/greeting.h"

#include "base/clock.h"

static struct greeting *first(const struct greetings *all)
{
    struct list *l = list_first(&all->all);

    return l ? LIST_OF(l, struct greeting, link) : NULL;
}

void greetings_init(struct greetings *all, struct quota *quota, uint64_t time_ns)
{
    list_init(&all->all);
    all->quota = quota;
    all->time_ns = time_ns;
}

void greeting_begin(struct greetings *all, struct greeting *g, const struct quota_source *who,
                    uint64_t now_ns)
{
    *g = (struct greeting){ .until_ns = now_ns + all->time_ns, .quota = all->quota, .who = *who };
    list_append(&all->all, &g->link);
}

bool greeting_received(struct greeting *g, size_t bytes, uint64_t now_ns)
{
    if (!g->quota)
        return true;
    if (!quota_charge(g->quota, &g->who, bytes, now_ns / NS_PER_MS))
        return false;
    g->bytes += bytes;
    return true;
}

void greeting_complete(struct greeting *g)
{
    if (g->link.next)
        list_unlink(&g->link);
}

void greeting_end(struct greeting *g)
{
    greeting_complete(g);
    if (g->quota)
        quota_discharge(g->quota, &g->who, g->bytes);
    g->quota = NULL;
}

uint64_t greetings_due(const struct greetings *all)
{
    const struct greeting *g = first(all);

    return g ? g->until_ns : UINT64_MAX;
}

struct greeting *greetings_late(struct greetings *all, uint64_t now_ns)
{
    struct greeting *g = first(all);

    if (!g || g->until_ns > now_ns)
        return NULL;
    greeting_complete(g);
    return g;
}
