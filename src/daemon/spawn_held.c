/* spawn_held.c - see spawn_held.h. */
#include "daemon/spawn_held.h"

#include <stdlib.h>

#include "base/clock.h"
#include "core/spawn_pack.h"
#include "daemon/spawn_limit.h"

enum { SPAWN_HELD_TEXT = 1 << 20 };

void spawn_held_free(struct spawn_held *h)
{
    timer_stop(&h->limit);
    spawn_free(h->request);
    free(h);
}

static void time_over(void *arg)
{
    struct spawn_held *h = arg;

    h->late(h);
}

static void begin_limit(struct spawn_held *h, struct loop *loop)
{
    uint32_t seconds = spawn_limit_seconds(h->request);

    timer_init(&h->limit, loop, time_over, h);
    if (seconds)
        timer_at(&h->limit, h->since_ns + seconds * NS_PER_S);
}

struct spawn_held *spawn_held_copy(const struct spawn_held *h, struct loop *loop,
                                   void (*late)(struct spawn_held *h), void *holder)
{
    struct spawn_held *copy = calloc(1, sizeof *copy);
    struct buf bytes = BUF_NULL(SPAWN_HELD_TEXT);
    struct errmsg err;

    if (copy) {
        *copy = (struct spawn_held){ .job = h->job,
                                     .ticket = h->ticket,
                                     .since_ns = h->since_ns,
                                     .session = h->session,
                                     .late = late,
                                     .holder = holder };
        spawn_pack(h->request, &bytes);
        copy->request = buf_ok(&bytes) ? spawn_unpack(buf_slice(&bytes), &err) : NULL;
    }
    if (copy && copy->request) {
        begin_limit(copy, loop);
    } else {
        free(copy);
        copy = NULL;
    }
    buf_free(&bytes);
    return copy;
}
