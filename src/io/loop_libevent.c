/* loop_libevent.c - an event loop (loop.h) on libevent: the only module that knows it. */
#include <errno.h>
#include <event2/event.h>

#include "base/clock.h"
#include "io/loop.h"
#include "io/loop_backend.h"

enum { READER, WRITER }; /* the events of a watch */

static void libevent_free(struct loop *l)
{
    event_base_free(l->state);
}

static int libevent_run(struct loop *l)
{
    return event_base_loop(l->state, EVLOOP_NO_EXIT_ON_EMPTY) < 0 ? -EIO : 0;
}

static void libevent_stop(struct loop *l)
{
    event_base_loopbreak(l->state);
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
    struct watch *w = arg;

    (void)fd;
    (void)what;
    w->on_read(w->arg);
}

static void writable(evutil_socket_t fd, short what, void *arg)
{
    struct watch *w = arg;

    (void)fd;
    (void)what;
    w->on_write(w->arg);
}

static void libevent_watch_open(struct watch *w)
{
    struct event_base *base = w->loop->state;

    event_assign(&w->own.events[READER], base, w->fd, EV_READ | EV_PERSIST, readable, w);
    event_assign(&w->own.events[WRITER], base, w->fd, EV_WRITE | EV_PERSIST, writable, w);
}

static int change(struct watch *w, unsigned bit, struct event *event, unsigned want)
{
    if ((w->what & bit) == (want & bit))
        return 0;
    errno = 0;
    if ((want & bit ? event_add(event, NULL) : event_del(event)) < 0)
        return errno ? -errno : -EIO;
    w->what ^= bit;
    return 0;
}

static int libevent_watch_want(struct watch *w, unsigned what)
{
    int rc = change(w, LOOP_READ, &w->own.events[READER], what);
    int also = change(w, LOOP_WRITE, &w->own.events[WRITER], what);

    return rc < 0 ? rc : also;
}

static void ring(evutil_socket_t fd, short what, void *arg)
{
    struct timer *t = arg;

    (void)fd;
    (void)what;
    t->set = false;
    t->fn(t->arg);
}

static void libevent_timer_init(struct timer *t)
{
    event_assign(&t->own.event, t->loop->state, -1, 0, ring, t);
}

static int libevent_timer_set(struct timer *t, uint64_t due_ns)
{
    uint64_t now_ns = clock_now_ns();
    uint64_t us = due_ns > now_ns ? (due_ns - now_ns + 999) / 1000 : 0;
    struct timeval in = { (time_t)(us / 1000000), (suseconds_t)(us % 1000000) };

    return event_add(&t->own.event, &in) < 0 ? -ENOMEM : 0;
}

static void libevent_timer_stop(struct timer *t)
{
    event_del(&t->own.event);
}

static const struct loop_backend libevent = {
    .free = libevent_free,
    .run = libevent_run,
    .stop = libevent_stop,
    .watch_open = libevent_watch_open,
    .watch_want = libevent_watch_want,
    .timer_init = libevent_timer_init,
    .timer_set = libevent_timer_set,
    .timer_stop = libevent_timer_stop,
};

/* Our callers get an error code; the message must not reach the user's terminal as well. */
static void ignore_message(int severity, const char *text)
{
    (void)severity;
    (void)text;
}

int loop_init(struct loop *l)
{
    struct event_config *config = event_config_new();

    *l = (struct loop){ NULL, NULL };
    event_set_log_callback(ignore_message);
    if (!config)
        return -ENOMEM;
    /* One thread, one wait: no locks, and no more reads of the clock than needed. */
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
    l->state = event_base_new_with_config(config);
    event_config_free(config);
    if (!l->state)
        return -ENOMEM;
    l->backend = &libevent;
    return 0;
}
