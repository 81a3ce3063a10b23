/* loop_epoll.c - see loop_epoll.h.
 *
 * An epoll descriptor, with an eventfd (wakes a wait) and a timerfd (the first timer) in it.  The
 * timerfd is not set back when its timer is stopped or set to a later time: it rings once for
 * nothing, and is then set for the first timer of that moment.  Timers are a list in the order of
 * their times: there are few, and a new one mostly comes last. */
#include "io/loop_epoll.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "io/loop_backend.h"

enum { ID_WAKE, ID_CLOCK, ID_FIRST }; /* of the two descriptors of our own, and of watches */

struct loop_epoll {
    int fd, wake, clock;
    uint64_t armed_ns; /* when the timerfd rings; UINT64_MAX: not at all */
    uint64_t next_id;
    struct map watches; /* by id; those with an interest */
    struct list timers;
    bool stopped;
};

/* ---- watches --------------------------------------------------------------------------------- */

static struct slice id_key(const uint64_t *id)
{
    return slice_mem(id, sizeof *id);
}

static int control(const struct loop_epoll *e, int op, int fd, unsigned what, uint64_t id)
{
    struct epoll_event event = {
        .events = (what & LOOP_READ ? EPOLLIN : 0U) | (what & LOOP_WRITE ? EPOLLOUT : 0U),
        .data.u64 = id,
    };

    return epoll_ctl(e->fd, op, fd, &event) < 0 ? -errno : 0;
}

static void epoll_watch_open(struct watch *w)
{
    w->own.id = 0;
}

/* A watch without interest is not in the epoll descriptor, which would report its hang-up. */
static int begin(struct loop_epoll *e, struct watch *w, unsigned what)
{
    int rc;

    w->own.id = e->next_id++;
    rc = map_put(&e->watches, id_key(&w->own.id), w, NULL);
    if (rc < 0)
        return rc;
    rc = control(e, EPOLL_CTL_ADD, w->fd, what, w->own.id);
    if (rc < 0)
        map_del(&e->watches, id_key(&w->own.id));
    return rc;
}

static int epoll_watch_want(struct watch *w, unsigned what)
{
    struct loop_epoll *e = w->loop->state;
    int rc;

    if (!w->what) {
        rc = begin(e, w, what);
    } else if (what) {
        rc = control(e, EPOLL_CTL_MOD, w->fd, what, w->own.id);
    } else {
        map_del(&e->watches, id_key(&w->own.id));
        rc = control(e, EPOLL_CTL_DEL, w->fd, 0, 0);
    }
    if (rc == 0 || !what)
        w->what = what;
    return rc;
}

/* ---- timers ---------------------------------------------------------------------------------- */

static struct timer *first_timer(const struct loop_epoll *e)
{
    struct list *l = list_first(&e->timers);

    return l ? LIST_OF(l, struct timer, own.link) : NULL;
}

/* The timerfd rings for the first timer, or before it. */
static void arm(struct loop_epoll *e)
{
    const struct timer *t = first_timer(e);
    struct itimerspec at = { .it_value.tv_nsec = 0 };

    if (!t || t->due_ns >= e->armed_ns)
        return;
    at.it_value.tv_sec = (time_t)(t->due_ns / NS_PER_S);
    at.it_value.tv_nsec = (long)(t->due_ns % NS_PER_S) + (t->due_ns == 0); /* 0 would disarm it */
    if (timerfd_settime(e->clock, TFD_TIMER_ABSTIME, &at, NULL) == 0)
        e->armed_ns = t->due_ns;
}

static void epoll_timer_init(struct timer *t)
{
    list_init(&t->own.link);
}

static int epoll_timer_set(struct timer *t, uint64_t due_ns)
{
    struct loop_epoll *e = t->loop->state;
    struct list *after;

    list_unlink(&t->own.link);
    for (after = e->timers.prev; after != &e->timers; after = after->prev) {
        if (LIST_OF(after, struct timer, own.link)->due_ns <= due_ns)
            break;
    }
    list_prepend(after, &t->own.link);
    t->due_ns = due_ns;
    arm(e);
    return 0;
}

static void epoll_timer_stop(struct timer *t)
{
    list_unlink(&t->own.link);
}

/* Those that are due now; one that sets itself again has its turn another time. */
static void ring(struct loop_epoll *e)
{
    uint64_t now_ns = clock_now_ns();
    struct timer *t;

    while (!e->stopped && (t = first_timer(e)) && t->due_ns <= now_ns) {
        list_unlink(&t->own.link);
        t->set = false;
        t->fn(t->arg);
    }
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void drain(int fd)
{
    uint64_t count;

    if (read(fd, &count, sizeof count) < 0)
        return; /* nothing to read */
}

/* As for poll(): a broken connection is readable and writable. */
static unsigned what_of(uint32_t events)
{
    if (events & (EPOLLHUP | EPOLLERR))
        return LOOP_READ | LOOP_WRITE;
    return (events & EPOLLIN ? LOOP_READ : 0U) | (events & EPOLLOUT ? LOOP_WRITE : 0U);
}

void loop_epoll_wait(struct loop *l, bool block, struct loop_epoll_ready *ready_p)
{
    const struct loop_epoll *e = l->state;
    struct epoll_event events[LOOP_EPOLL_BATCH];
    int n;

    do
        n = epoll_wait(e->fd, events, LOOP_EPOLL_BATCH, block ? -1 : 0);
    while (n < 0 && errno == EINTR);
    ready_p->n = n > 0 ? (unsigned)n : 0;
    for (unsigned i = 0; i < ready_p->n; i++) {
        ready_p->items[i].id = events[i].data.u64;
        ready_p->items[i].what = what_of(events[i].events);
    }
}

/* Each callback may close the watch, or drop the interest. */
static void call(struct loop_epoll *e, uint64_t id, unsigned what)
{
    struct watch *w = map_get(&e->watches, id_key(&id));

    if (w && what & w->what & LOOP_READ) {
        w->on_read(w->arg);
        w = map_get(&e->watches, id_key(&id));
    }
    if (w && what & w->what & LOOP_WRITE)
        w->on_write(w->arg);
}

void loop_epoll_handle(struct loop *l, const struct loop_epoll_ready *ready)
{
    struct loop_epoll *e = l->state;

    for (unsigned i = 0; i < ready->n && !e->stopped; i++) {
        if (ready->items[i].id == ID_WAKE) {
            drain(e->wake);
        } else if (ready->items[i].id == ID_CLOCK) {
            drain(e->clock);
            e->armed_ns = UINT64_MAX;
            ring(e);
            arm(e);
        } else {
            call(e, ready->items[i].id, ready->items[i].what);
        }
    }
}

static int epoll_run(struct loop *l)
{
    struct loop_epoll *e = l->state;
    struct loop_epoll_ready ready;

    e->stopped = false;
    while (!e->stopped) {
        loop_epoll_wait(l, true, &ready);
        loop_epoll_handle(l, &ready);
    }
    e->stopped = false;
    return 0;
}

static void epoll_stop(struct loop *l)
{
    struct loop_epoll *e = l->state;

    e->stopped = true;
}

void loop_epoll_wake(struct loop *l)
{
    const struct loop_epoll *e = l->state;
    uint64_t one = 1;

    if (write(e->wake, &one, sizeof one) < 0)
        return; /* the counter is full: enough to wake any thread */
}

int loop_epoll_fd(const struct loop *l)
{
    const struct loop_epoll *e = l->state;

    return e->fd;
}

/* ---- start and end --------------------------------------------------------------------------- */

static void close_one(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void epoll_free(struct loop *l)
{
    struct loop_epoll *e = l->state;

    close_one(e->fd);
    close_one(e->wake);
    close_one(e->clock);
    map_free(&e->watches);
    free(e);
}

static const struct loop_backend backend = {
    .free = epoll_free,
    .run = epoll_run,
    .stop = epoll_stop,
    .watch_open = epoll_watch_open,
    .watch_want = epoll_watch_want,
    .timer_init = epoll_timer_init,
    .timer_set = epoll_timer_set,
    .timer_stop = epoll_timer_stop,
};

int loop_epoll_init(struct loop *l)
{
    struct loop_epoll *e = calloc(1, sizeof *e);
    int rc = 0;

    *l = (struct loop){ NULL, NULL };
    if (!e)
        return -ENOMEM;
    *l = (struct loop){ &backend, e };
    e->armed_ns = UINT64_MAX;
    e->next_id = ID_FIRST;
    list_init(&e->timers);
    map_init(&e->watches, clock_seed());
    e->fd = epoll_create1(EPOLL_CLOEXEC);
    e->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    e->clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (e->fd < 0 || e->wake < 0 || e->clock < 0)
        rc = -errno;
    if (rc == 0)
        rc = control(e, EPOLL_CTL_ADD, e->wake, LOOP_READ, ID_WAKE);
    if (rc == 0)
        rc = control(e, EPOLL_CTL_ADD, e->clock, LOOP_READ, ID_CLOCK);
    if (rc < 0)
        loop_free(l);
    return rc;
}
