/* help_topics.c - see help_topics.h. */
#include "core/help_topics.h"

#include <stdlib.h>

#include "base/limit.h"

struct help_topic {
    struct list link;
    uint8_t *procs; /* bits: the processes that have sent it */
    uint32_t room;  /* bytes */
    uint32_t more;  /* since the last report */
    struct slice topic;
    char text[];
};

void help_topics_init(struct help_topics *t)
{
    list_init(&t->all);
    t->count = 0;
}

void help_topics_free(struct help_topics *t)
{
    if (!t->all.next)
        return;
    LIST_EACH(l, &t->all)
    {
        struct help_topic *h = LIST_OF(l, struct help_topic, link);
        free(h->procs);
        free(h);
    }
    help_topics_init(t);
}

static struct help_topic *find(const struct help_topics *t, struct slice topic)
{
    LIST_EACH(l, &t->all)
    {
        struct help_topic *h = LIST_OF(l, struct help_topic, link);
        if (slice_eq(h->topic, topic))
            return h;
    }
    return NULL;
}

/* NULL: no room, or no memory. */
static struct help_topic *add(struct help_topics *t, struct slice topic)
{
    struct help_topic *h = t->count < LIMIT_HELP_TOPICS ? calloc(1, sizeof *h + topic.len) : NULL;

    if (!h)
        return NULL;
    if (topic.len)
        memcpy(h->text, topic.ptr, topic.len);
    h->topic = slice_mem(h->text, topic.len);
    list_append(&t->all, &h->link);
    t->count++;
    return h;
}

/* Whether it is the first time.  Without memory every message counts. */
static bool mark(struct help_topic *h, uint32_t proc)
{
    uint32_t byte = proc / 8;
    uint8_t bit = (uint8_t)(1u << proc % 8);

    if (byte >= h->room) {
        uint32_t room = byte + byte / 2 + 16;
        uint8_t *procs = realloc(h->procs, room);
        if (!procs)
            return true;
        memset(procs + h->room, 0, room - h->room);
        h->procs = procs;
        h->room = room;
    }
    if (h->procs[byte] & bit)
        return false;
    h->procs[byte] |= bit;
    return true;
}

bool help_topics_note(struct help_topics *t, struct slice topic, uint32_t proc)
{
    struct help_topic *h = find(t, topic);

    if (h) {
        h->more += mark(h, proc);
        return false;
    }
    h = add(t, topic);
    if (h)
        mark(h, proc);
    return true;
}

bool help_topics_report(struct help_topics *t,
                        void (*fn)(void *arg, struct slice topic, uint32_t more), void *arg)
{
    bool any = false;

    LIST_EACH(l, &t->all)
    {
        struct help_topic *h = LIST_OF(l, struct help_topic, link);
        if (h->more == 0)
            continue;
        fn(arg, h->topic, h->more);
        h->more = 0;
        any = true;
    }
    return any;
}
