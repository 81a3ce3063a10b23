/* loop.c - see loop.h. */
#include "io/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>

/* Our callers get an error code; the message must not reach the user's terminal as well. */
static void say_nothing(int severity, const char *text)
{
    (void)severity;
    (void)text;
}

int loop_init(struct loop *l)
{
    struct event_config *config = event_config_new();

    event_set_log_callback(say_nothing);
    if (!config)
        return -ENOMEM;
    /* One thread, one wait: no locks, and no more reads of the clock than needed. */
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
    l->base = event_base_new_with_config(config);
    event_config_free(config);
    return l->base ? 0 : -ENOMEM;
}

void loop_free(struct loop *l)
{
    if (l->base)
        event_base_free(l->base);
    l->base = NULL;
}

int loop_run(struct loop *l)
{
    return event_base_loop(l->base, EVLOOP_NO_EXIT_ON_EMPTY) < 0 ? -EIO : 0;
}

void loop_stop(struct loop *l)
{
    event_base_loopbreak(l->base);
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

void watch_open(struct watch *w, struct loop *l, int fd, loop_fn *on_read, loop_fn *on_write,
                void *arg)
{
    memset(w, 0, sizeof *w);
    w->loop = l;
    w->fd = fd;
    w->on_read = on_read;
    w->on_write = on_write;
    w->arg = arg;
    event_assign(&w->reader, l->base, fd, EV_READ | EV_PERSIST, readable, w);
    event_assign(&w->writer, l->base, fd, EV_WRITE | EV_PERSIST, writable, w);
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

int watch_want(struct watch *w, unsigned what)
{
    int rc = change(w, LOOP_READ, &w->reader, what);
    int also = change(w, LOOP_WRITE, &w->writer, what);

    return rc < 0 ? rc : also;
}

void watch_close(struct watch *w)
{
    if (w->loop)
        watch_want(w, 0);
    w->loop = NULL;
}

static void ring(evutil_socket_t fd, short what, void *arg)
{
    struct timer *t = arg;

    (void)fd;
    (void)what;
    t->set = false;
    t->fn(t->arg);
}

void timer_init(struct timer *t, struct loop *l, loop_fn *fn, void *arg)
{
    memset(t, 0, sizeof *t);
    t->loop = l;
    t->fn = fn;
    t->arg = arg;
    event_assign(&t->event, l->base, -1, 0, ring, t);
}

int timer_set(struct timer *t, uint64_t ms)
{
    struct timeval in = { (time_t)(ms / 1000), (suseconds_t)(ms % 1000 * 1000) };

    if (event_add(&t->event, &in) < 0)
        return -ENOMEM;
    t->set = true;
    return 0;
}

void timer_stop(struct timer *t)
{
    if (t->loop && t->set)
        event_del(&t->event);
    t->set = false;
}
