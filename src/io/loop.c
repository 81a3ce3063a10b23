/* loop.c - see loop.h. */
#include "io/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"

enum { EVENTS = 64, LONGEST_WAIT_MS = 3600 * 1000 };

int loop_init(struct loop *l)
{
    memset(l, 0, sizeof *l);
    list_init(&l->ready);
    l->fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->fd < 0)
        return -errno;
    l->open = true;
    return 0;
}

void loop_free(struct loop *l)
{
    if (!l->open)
        return;
    close(l->fd);
    memset(l, 0, sizeof *l);
}

void loop_stop(struct loop *l)
{
    l->stopped = true;
}

/* ---- watches -----------------------------------------------------------------------------------
 */

void watch_open(struct watch *w, struct loop *l, int fd, loop_fn *on_read, loop_fn *on_write,
                void *arg)
{
    memset(w, 0, sizeof *w);
    w->loop = l;
    w->fd = fd;
    w->on_read = on_read;
    w->on_write = on_write;
    w->arg = arg;
    list_init(&w->link);
}

static int tell_kernel(struct watch *w, unsigned what)
{
    struct epoll_event e = { .events = (what & LOOP_READ ? (uint32_t)EPOLLIN : 0) |
                                       (what & LOOP_WRITE ? (uint32_t)EPOLLOUT : 0),
                             .data.ptr = w };

    if (what)
        return epoll_ctl(w->loop->fd, w->what ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, w->fd, &e) < 0
                   ? -errno
                   : 0;
    epoll_ctl(w->loop->fd, EPOLL_CTL_DEL, w->fd, &e);
    return 0;
}

static void not_ready(struct watch *w, unsigned what)
{
    w->ready &= ~what;
    if (w->ready == 0)
        list_unlink(&w->link);
}

int watch_want(struct watch *w, unsigned what)
{
    int rc;

    if (w->what == what)
        return 0;
    if (!w->loop || !w->loop->open)
        return -EBADF;
    rc = tell_kernel(w, what);
    if (rc < 0)
        return rc;
    w->what = what;
    not_ready(w, ~what);
    return 0;
}

void watch_close(struct watch *w)
{
    if (w->loop)
        watch_want(w, 0);
    w->loop = NULL;
}

/* An error, or an other end that has gone, is told to whoever looks. */
static void mark_ready(struct loop *l, const struct epoll_event *e)
{
    unsigned what = (e->events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? (unsigned)LOOP_READ : 0) |
                    (e->events & (EPOLLOUT | EPOLLHUP | EPOLLERR) ? (unsigned)LOOP_WRITE : 0);
    struct watch *w = e->data.ptr;

    what &= w->what;
    if (what && w->ready == 0)
        list_append(&l->ready, &w->link);
    w->ready |= what;
}

static void run_ready(struct loop *l)
{
    struct list *first;

    while (!l->stopped && (first = list_first(&l->ready))) {
        struct watch *w = LIST_OF(first, struct watch, link);
        bool read = w->ready & LOOP_READ;

        not_ready(w, read ? LOOP_READ : LOOP_WRITE);
        if (read)
            w->on_read(w->arg);
        else
            w->on_write(w->arg);
    }
}

/* ---- timers ------------------------------------------------------------------------------------
 */

void timer_init(struct timer *t, struct loop *l, loop_fn *fn, void *arg)
{
    memset(t, 0, sizeof *t);
    t->loop = l;
    t->fn = fn;
    t->arg = arg;
}

static bool sooner(const struct timer *a, const struct timer *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->setting < b->setting;
}

/* Of two heaps one: the later top becomes the first behind the sooner one. */
static struct timer *meld(struct timer *a, struct timer *b)
{
    struct timer *top = !b || (a && sooner(a, b)) ? a : b, *other = top == a ? b : a;

    if (!other)
        return top;
    other->next = top->child;
    if (other->next)
        other->next->prev = other;
    other->prev = top;
    top->child = other;
    return top;
}

/* A row of heaps, two by two from its begin, and these from the end. */
static struct timer *meld_row(struct timer *row)
{
    struct timer *pairs = NULL, *all = NULL;

    while (row) {
        struct timer *a = row, *b = a->next, *pair;
        row = b ? b->next : NULL;
        a->next = a->prev = NULL;
        if (b)
            b->next = b->prev = NULL;
        pair = meld(a, b);
        pair->next = pairs;
        pairs = pair;
    }
    while (pairs) {
        struct timer *pair = pairs;
        pairs = pair->next;
        pair->next = NULL;
        all = meld(all, pair);
    }
    return all;
}

static void leave_row(struct timer *t)
{
    if (t->prev->child == t)
        t->prev->child = t->next;
    else
        t->prev->next = t->next;
    if (t->next)
        t->next->prev = t->prev;
}

void timer_stop(struct timer *t)
{
    struct loop *l = t->loop;
    struct timer *behind;

    if (!l || !t->set)
        return;
    t->set = false;
    if (!l->open)
        return;
    behind = meld_row(t->child);
    if (l->first == t) {
        l->first = behind;
    } else {
        leave_row(t);
        l->first = meld(l->first, behind);
    }
    t->child = t->next = t->prev = NULL;
}

static uint64_t later(uint64_t now, uint64_t ms)
{
    return ms > (UINT64_MAX - now) / NS_PER_MS ? UINT64_MAX : now + ms * NS_PER_MS;
}

int timer_set(struct timer *t, uint64_t ms)
{
    struct loop *l = t->loop;

    timer_stop(t);
    t->due_ns = later(clock_now_ns(), ms);
    t->setting = l->settings++;
    t->set = true;
    l->first = meld(l->first, t);
    return 0;
}

/* Those that were due at that time; who is set meanwhile waits for the next turn. */
static void run_due(struct loop *l, uint64_t now)
{
    uint64_t settings = l->settings;

    while (!l->stopped && l->first && l->first->due_ns <= now && l->first->setting < settings) {
        struct timer *t = l->first;
        timer_stop(t);
        t->fn(t->arg);
    }
}

/* ---- turns -------------------------------------------------------------------------------------
 */

static int patience(const struct loop *l)
{
    uint64_t now, ms;

    if (!list_empty(&l->ready))
        return 0;
    if (!l->first)
        return -1;
    now = clock_now_ns();
    if (l->first->due_ns <= now)
        return 0;
    ms = (l->first->due_ns - now - 1) / NS_PER_MS + 1;
    return ms < LONGEST_WAIT_MS ? (int)ms : LONGEST_WAIT_MS;
}

int loop_run(struct loop *l)
{
    struct epoll_event events[EVENTS];

    l->stopped = false;
    while (!l->stopped) {
        int n = epoll_wait(l->fd, events, EVENTS, patience(l));
        if (n < 0 && errno != EINTR)
            return -errno;
        for (int i = 0; i < n; i++)
            mark_ready(l, &events[i]);
        run_ready(l);
        if (!l->stopped && l->first)
            run_due(l, clock_now_ns());
    }
    return 0;
}
