/* greeting_timer.c - see greeting_timer.h.  The timer is not stopped when the connection that it
 * was set for has greeted: it rings at most once for nothing, and is set for the next one. */
#include "io/greeting_timer.h"

#include "base/clock.h"

static int set(struct greeting_timer *t, uint64_t now_ns)
{
    uint64_t due_ns = greetings_due(&t->greetings);

    if (due_ns == UINT64_MAX)
        return 0;
    return timer_set(&t->timer, due_ns > now_ns ? (due_ns - now_ns) / NS_PER_MS + 1 : 0);
}

static void time_is_over(void *arg)
{
    struct greeting_timer *t = arg;
    uint64_t now_ns = clock_now_ns();
    struct greeting *g;

    while ((g = greetings_late(&t->greetings, now_ns)))
        t->on_late(t->arg, g);
    set(t, now_ns);
}

void greeting_timer_init(struct greeting_timer *t, struct loop *l, struct quota *quota,
                         uint64_t time_ms, greeting_late_fn *on_late, void *arg)
{
    greetings_init(&t->greetings, quota, time_ms * NS_PER_MS);
    timer_init(&t->timer, l, time_is_over, t);
    t->on_late = on_late;
    t->arg = arg;
}

int greeting_timer_add(struct greeting_timer *t, struct greeting *g, const struct quota_source *who)
{
    uint64_t now_ns = clock_now_ns();
    int rc;

    greeting_begin(&t->greetings, g, who, now_ns);
    rc = t->timer.set ? 0 : set(t, now_ns);
    if (rc < 0)
        greeting_end(g);
    return rc;
}

void greeting_timer_stop(struct greeting_timer *t)
{
    timer_stop(&t->timer);
}
