/* server_turn.c - see server_turn.h. */
#include "lib/pmix/server/server_turn.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/common/program_libevent.h"
#include "lib/pmix/server/server_cleanup.h"

static struct program_libevent libevent;

/* ---- effects and calls ----------------------------------------------------------------------- */

void pserver_settle(struct pserver *s)
{
    effect_host_settle(&s->host);
}

void pserver_add_call(struct pserver *s, struct scall *c)
{
    list_init(&c->link);
    list_append(&s->calls, &c->link);
}

static bool is_inside(const struct pserver *s)
{
    return s->running && pthread_equal(s->runner, pthread_self());
}

bool pserver_inside(struct pserver *s)
{
    bool inside;

    pserver_lock(s);
    inside = is_inside(s);
    pthread_mutex_unlock(&s->lock);
    return inside;
}

void pserver_unlock(struct pserver *s)
{
    pserver_settle(s);
    if (!list_empty(&s->calls) && !is_inside(s) && s->loop.backend)
        loop_epoll_wake(&s->loop);
    pthread_mutex_unlock(&s->lock);
}

static void run_calls(struct pserver *s)
{
    struct list *first;

    while ((first = list_first(&s->calls)) && !s->stopping) {
        struct scall *c = LIST_OF(first, struct scall, link);
        list_unlink(first);
        s->running = true;
        s->runner = pthread_self();
        pthread_mutex_unlock(&s->lock);
        c->run(c);
        pthread_mutex_lock(&s->lock);
        s->running = false;
        pserver_settle(s);
    }
    pthread_cond_broadcast(&s->calm);
}

/* The calls that the bytes in the connection lead to; others stay with the thread of the loop. */
static void take_own_calls(struct pserver *s, struct peer_conn *own, struct list *mine)
{
    struct list others;

    list_init(&others);
    list_move_all(&s->calls, &others);
    peer_conn_drain(own);
    pserver_settle(s);
    list_move_all(&s->calls, mine);
    list_move_all(&others, &s->calls);
}

/* One call of the host after the other, but beside those that the loop's thread runs: that one may
 * wait for a lock that this thread holds. */
void pserver_run_own(struct pserver *s, struct peer_conn *own)
{
    struct list mine, *first;

    list_init(&mine);
    if (own && s->progress == PSERVER_THREAD && !s->stopping)
        take_own_calls(s, own, &mine);
    s->own_runs++;
    pserver_unlock(s);
    while ((first = list_first(&mine))) {
        struct scall *c = LIST_OF(first, struct scall, link);
        list_unlink(first);
        c->run(c);
    }
    pserver_lock(s);
    s->own_runs--;
    pthread_cond_broadcast(&s->calm);
    pserver_unlock(s);
}

/* ---- the end of the memory ------------------------------------------------------------------- */

void pserver_release(struct pserver *s)
{
    server_free(&s->server);
    loop_free(&s->loop);
    cleanup_free(s->cleanup);
    free(s->hostname);
    free(s->tmpdir);
    free(s->system_tmpdir);
    pthread_cond_destroy(&s->calm);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void pserver_unlock_last(struct pserver *s)
{
    bool last = s->abandoned && s->asks == 0;

    if (!s->abandoned)
        pserver_unlock(s);
    else
        pthread_mutex_unlock(&s->lock);
    if (last)
        pserver_release(s);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void turn(struct pserver *s, bool wait)
{
    struct loop_epoll_ready ready;

    loop_epoll_wait(&s->loop, wait, &ready);
    pserver_lock(s);
    loop_epoll_handle(&s->loop, &ready);
    pserver_settle(s);
    s->turned(s);
    run_calls(s);
    pthread_mutex_unlock(&s->lock);
}

/* One thread at a time.  A host that is in a call continues afterwards. */
void pserver_turn(struct pserver *s, bool wait)
{
    bool mine;

    pserver_lock(s);
    while (wait && s->turning && !is_inside(s))
        pthread_cond_wait(&s->calm, &s->lock);
    mine = s->progress != PSERVER_THREAD && !s->turning && !s->stopping;
    s->turning = s->turning || mine;
    pthread_mutex_unlock(&s->lock);
    if (!mine)
        return;
    turn(s, false);
    pserver_lock(s);
    s->turning = false;
    pthread_cond_broadcast(&s->calm);
    pthread_mutex_unlock(&s->lock);
}

int pserver_turn_fd(struct pserver *s)
{
    int fd = -1;

    pserver_lock(s);
    if (s->progress != PSERVER_THREAD && !is_inside(s) && !s->stopping)
        fd = loop_epoll_fd(&s->loop);
    pthread_mutex_unlock(&s->lock);
    return fd;
}

static void *serve(void *arg)
{
    struct pserver *s = arg;
    bool stopping = false;

    while (!stopping) {
        turn(s, true);
        pserver_lock(s);
        stopping = s->stopping;
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

int pserver_start(struct pserver *s)
{
    return -client_thread_create(&s->thread, &s->cpus, serve, s);
}

static void base_ready(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pserver_turn(arg, false);
}

static int join_base(struct pserver *s)
{
    if (!program_libevent_find(&libevent))
        return -ENOSYS;
    s->base_event =
        libevent.event_new(s->event_base, loop_epoll_fd(&s->loop),
                           PROGRAM_LIBEVENT_READ | PROGRAM_LIBEVENT_PERSIST, base_ready, s);
    if (!s->base_event)
        return -ENOMEM;
    if (libevent.event_add(s->base_event, NULL) == 0)
        return 0;
    libevent.event_free(s->base_event);
    s->base_event = NULL;
    return -ENOMEM;
}

/* Until the host has joined, a thread of ours turns the loop in any case. */
pmix_status_t pserver_settle_progress(struct pserver *s)
{
    if (s->wants == PSERVER_THREAD)
        return PMIX_SUCCESS;
    pserver_lock(s);
    s->stopping = true;
    loop_epoll_wake(&s->loop);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pserver_lock(s);
    s->stopping = false;
    s->progress = s->wants;
    pthread_mutex_unlock(&s->lock);
    return s->wants == PSERVER_BASE && join_base(s) < 0 ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
}

void pserver_hand_over(struct pserver *s, bool flush)
{
    bool ours;

    pserver_lock(s);
    ours = s->wants == PSERVER_THREAD && !s->stopping && !is_inside(s);
    if (ours)
        s->wants = PSERVER_PROGRAM;
    while (ours && flush && (s->running || !list_empty(&s->calls)))
        pthread_cond_wait(&s->calm, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (ours)
        pserver_settle_progress(s);
}

void pserver_stop(struct pserver *s)
{
    pserver_lock(s);
    s->stopping = s->ending = true;
    loop_epoll_wake(&s->loop);
    while (s->running || s->turning || s->own_runs)
        pthread_cond_wait(&s->calm, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (s->base_event)
        libevent.event_free(s->base_event);
    else if (s->progress == PSERVER_THREAD)
        pthread_join(s->thread, NULL);
}
