/* server_loop.c - see server_loop.h. */
#include "lib/pmix/server_loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"

static int add(struct sloop *l, int fd, void *ptr)
{
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = ptr };

    return epoll_ctl(l->fd, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

int sloop_open(struct sloop *l)
{
    int rc = 0;

    *l = SLOOP_NULL;
    l->fd = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->moment = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (l->fd < 0 || l->wake < 0 || l->moment < 0)
        rc = -errno;
    if (rc == 0)
        rc = add(l, l->wake, &l->wake);
    if (rc == 0)
        rc = add(l, l->moment, &l->moment);
    if (rc < 0)
        sloop_close(l);
    return rc;
}

void sloop_close(struct sloop *l)
{
    if (l->fd >= 0)
        close(l->fd);
    if (l->wake >= 0)
        close(l->wake);
    if (l->moment >= 0)
        close(l->moment);
    *l = SLOOP_NULL;
}

static uint32_t events_of(unsigned what)
{
    return (what & SLOOP_READ ? EPOLLIN : 0) | (what & SLOOP_WRITE ? EPOLLOUT : 0);
}

int swatch_open(struct sloop *l, struct swatch *w, int fd, unsigned what,
                void (*ready)(void *arg, unsigned what), void *arg)
{
    struct epoll_event e = { .events = events_of(what), .data.ptr = w };

    *w = (struct swatch){ .fd = fd, .what = what, .ready = ready, .arg = arg };
    if (epoll_ctl(l->fd, EPOLL_CTL_ADD, fd, &e) == 0)
        return 0;
    w->fd = -1;
    return -errno;
}

int swatch_want(struct sloop *l, struct swatch *w, unsigned what)
{
    struct epoll_event e = { .events = events_of(what), .data.ptr = w };

    if (w->fd < 0 || w->what == what)
        return 0;
    w->what = what;
    return epoll_ctl(l->fd, EPOLL_CTL_MOD, w->fd, &e) < 0 ? -errno : 0;
}

void swatch_close(struct sloop *l, struct swatch *w)
{
    if (w->fd >= 0)
        epoll_ctl(l->fd, EPOLL_CTL_DEL, w->fd, NULL);
    w->fd = -1;
}

void sloop_wake(struct sloop *l)
{
    uint64_t one = 1;

    if (write(l->wake, &one, sizeof one) < 0)
        return; /* the counter is full: enough to wake any thread */
}

void sloop_at(struct sloop *l, uint64_t due_ns)
{
    struct itimerspec at = { .it_value.tv_nsec = 0 };

    if (due_ns == l->due_ns)
        return;
    l->due_ns = due_ns;
    if (due_ns != UINT64_MAX) {
        at.it_value.tv_sec = (time_t)(due_ns / NS_PER_S);
        at.it_value.tv_nsec = (long)(due_ns % NS_PER_S) + (due_ns == 0);
    }
    timerfd_settime(l->moment, TFD_TIMER_ABSTIME, &at, NULL);
}

static void drain(int fd)
{
    uint64_t count;

    if (read(fd, &count, sizeof count) < 0)
        return; /* nothing to read */
}

int sloop_wait(struct sloop *l, bool wait, struct sready *ready)
{
    struct epoll_event events[SLOOP_BATCH];
    int n;

    do
        n = epoll_wait(l->fd, events, SLOOP_BATCH, wait ? -1 : 0);
    while (n < 0 && errno == EINTR);
    for (int i = 0; i < n; i++) {
        unsigned what = (events[i].events & EPOLLOUT ? SLOOP_WRITE : 0) |
                        (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR) ? SLOOP_READ : 0);
        ready[i] = (struct sready){ events[i].data.ptr, what };
        if (events[i].data.ptr == &l->wake || events[i].data.ptr == &l->moment) {
            ready[i].watch = NULL;
            drain(*(int *)events[i].data.ptr);
        }
    }
    return n > 0 ? n : 0;
}
