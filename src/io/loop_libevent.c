/* loop_libevent.c - an event loop (loop.h) on libevent: the only module that knows it.
 *
 * libevent's events are large, and most watches want one of two, most timers are never set: an event
 * exists as long as it is wanted.
 */
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
    w->own.events[READER] = w->own.events[WRITER] = NULL;
}

static void forget(struct event **event)
{
    event_free(*event);
    *event = NULL;
}

static int want(struct watch *w, struct event **event, short kind, event_callback_fn fn)
{
    int rc;

    *event = event_new(w->loop->state, w->fd, (short)(kind | EV_PERSIST), fn, w);
    if (!*event)
        return -ENOMEM;
    errno = 0;
    if (event_add(*event, NULL) == 0)
        return 0;
    rc = errno ? -errno : -EIO;
    forget(event);
    return rc;
}

static int libevent_watch_want(struct watch *w, unsigned what)
{
    static const struct {
        unsigned bit;
        short kind;
        event_callback_fn fn;
    } both[] = {
        [READER] = { LOOP_READ, EV_READ, readable }, [WRITER] = { LOOP_WRITE, EV_WRITE, writable }
    };
    int rc = 0;

    for (size_t i = 0; i < 2; i++) {
        struct event **event = &w->own.events[i];
        int each = 0;

        if (*event && !(what & both[i].bit))
            forget(event);
        else if (!*event && (what & both[i].bit))
            each = want(w, event, both[i].kind, both[i].fn);
        w->what = *event ? w->what | both[i].bit : w->what & ~both[i].bit;
        rc = rc < 0 ? rc : each;
    }
    return rc;
}

static void ring(evutil_socket_t fd, short what, void *arg)
{
    struct timer *t = arg;

    (void)fd;
    (void)what;
    t->set = false;
    forget(&t->own.event);
    t->fn(t->arg);
}

static void libevent_timer_init(struct timer *t)
{
    t->own.event = NULL;
}

static int libevent_timer_set(struct timer *t, uint64_t due_ns)
{
    uint64_t now_ns = clock_now_ns();
    uint64_t us = due_ns > now_ns ? (due_ns - now_ns + 999) / 1000 : 0;
    struct timeval in = { (time_t)(us / 1000000), (suseconds_t)(us % 1000000) };
    struct event *event = t->set ? t->own.event : evtimer_new(t->loop->state, ring, t);

    if (!event)
        return -ENOMEM;
    if (event_add(event, &in) == 0) {
        t->own.event = event;
        return 0;
    }
    if (!t->set)
        event_free(event);
    return -ENOMEM;
}

static void libevent_timer_stop(struct timer *t)
{
    forget(&t->own.event);
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
