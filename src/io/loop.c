/* loop.c - see loop.h: the part that all back ends share. */
#include "io/loop.h"

#include <string.h>

#include "base/clock.h"
#include "io/loop_backend.h"

void loop_free(struct loop *l)
{
    if (l->backend)
        l->backend->free(l);
    *l = (struct loop){ NULL, NULL };
}

int loop_run(struct loop *l)
{
    return l->backend->run(l);
}

void loop_stop(struct loop *l)
{
    l->backend->stop(l);
}

void watch_open(struct watch *w, struct loop *l, int fd, loop_fn *on_read, loop_fn *on_write,
                void *arg)
{
    *w =
        (struct watch){ .loop = l, .fd = fd, .on_read = on_read, .on_write = on_write, .arg = arg };
    l->backend->watch_open(w);
}

int watch_want(struct watch *w, unsigned what)
{
    return w->what == what ? 0 : w->loop->backend->watch_want(w, what);
}

void watch_close(struct watch *w)
{
    if (w->loop)
        watch_want(w, 0);
    w->loop = NULL;
}

void timer_init(struct timer *t, struct loop *l, loop_fn *fn, void *arg)
{
    *t = (struct timer){ .loop = l, .fn = fn, .arg = arg };
    l->backend->timer_init(t);
}

int timer_at(struct timer *t, uint64_t due_ns)
{
    int rc;

    if (due_ns == UINT64_MAX)
        timer_stop(t);
    if (due_ns == UINT64_MAX || (t->set && t->due_ns == due_ns))
        return 0;
    rc = t->loop->backend->timer_set(t, due_ns);
    if (rc < 0)
        return rc;
    t->set = true;
    t->due_ns = due_ns;
    return 0;
}

int timer_set(struct timer *t, uint64_t ms)
{
    return timer_at(t, clock_now_ns() + ms * NS_PER_MS);
}

void timer_stop(struct timer *t)
{
    if (t->loop && t->set)
        t->loop->backend->timer_stop(t);
    t->set = false;
}
