/* greeting.c - see greeting.h. */
#include "io/greeting.h"

static struct greeting *first(const struct greetings *all)
{
    struct list *l = list_first(&all->all);

    return l ? LIST_OF(l, struct greeting, link) : NULL;
}

void greetings_init(struct greetings *all, uint64_t time_ns)
{
    list_init(&all->all);
    all->time_ns = time_ns;
}

void greeting_begin(struct greetings *all, struct greeting *g, uint64_t now_ns)
{
    g->until_ns = now_ns + all->time_ns;
    list_append(&all->all, &g->link);
}

void greeting_end(struct greeting *g)
{
    if (g->link.next)
        list_unlink(&g->link);
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
    greeting_end(g);
    return g;
}
