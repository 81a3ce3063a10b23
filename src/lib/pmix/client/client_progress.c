/* client_progress.c - see client_progress.h. */
#include "lib/pmix/client/client_progress.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/common/program_libevent.h"
#include "lib/pmix/client/client.h"

static struct program_libevent libevent;

void progress_init(struct progress *p)
{
    *p = (struct progress){ .wake = PTHREAD_COND_INITIALIZER, .wake_fd = -1 };
    list_init(&p->tasks);
}

/* Runs everything that is due, one after the other. */
static void run_tasks(struct client *c)
{
    struct progress *p = &c->progress;
    struct list *first;

    while (!p->stopping && !p->at_once && (first = list_first(&p->tasks))) {
        struct client_task *t = LIST_OF(first, struct client_task, link);
        list_unlink(first);
        p->running = true;
        p->thread = p->kind == PROGRESS_THREAD ? p->thread : pthread_self();
        if (!c->reading && !list_empty(&c->waiters))
            reader_next(c);
        client_unlock(c);
        t->run(t);
        client_lock(c);
        p->running = false;
    }
    if (p->stopping)
        pthread_cond_broadcast(&p->wake);
}

/* ---- our thread ------------------------------------------------------------------------------ */

static void drain(int fd)
{
    uint64_t count;

    if (read(fd, &count, sizeof count) < 0)
        return; /* nothing to read */
}

static bool has_server(const struct client *c)
{
    for (const struct list *l = c->servers.next; l != &c->servers; l = l->next) {
        if (!LIST_OF(l, const struct server_link, link)->lost)
            return true;
    }
    return false;
}

/* Writes for another thread that sleeps in poll and does not know of the new data. */
static bool write_meanwhile(struct client *c)
{
    struct progress *p = &c->progress;
    bool written;

    p->in_poll = true;
    written = c->reading && writer_turn(c, p->wake_fd);
    p->in_poll = false;
    if (written)
        drain(p->wake_fd);
    return written;
}

static bool has_left(const struct progress *p)
{
    return p->leaving && (p->at_once || list_empty(&p->tasks));
}

static void *serve(void *arg)
{
    struct client *c = arg;
    struct progress *p = &c->progress;

    client_lock(c);
    while (!p->stopping && !has_left(p)) {
        if (!list_empty(&p->tasks)) {
            run_tasks(c);
        } else if (!c->reading && has_server(c)) {
            p->in_poll = true;
            reader_turn(c, UINT64_MAX, p->wake_fd);
            p->in_poll = false;
            drain(p->wake_fd);
        } else if (!write_meanwhile(c)) {
            pthread_cond_wait(&p->wake, &c->gate->mutex);
        }
    }
    client_unlock(c);
    return NULL;
}

/* ---- the program's event loop ---------------------------------------------------------------- */

static void on_event(int fd, short what, void *arg)
{
    struct client *c = arg;

    (void)fd;
    (void)what;
    client_lock(c);
    drain(c->progress.wake_fd);
    progress_once(c);
    if (!has_server(c) && c->progress.on_data) { /* at end of file always readable */
        libevent.event_free(c->progress.on_data);
        c->progress.on_data = NULL;
    }
    client_unlock(c);
}

static void *listen_on(struct client *c, int fd)
{
    void *event = libevent.event_new(c->progress.base, fd,
                                     PROGRAM_LIBEVENT_READ | PROGRAM_LIBEVENT_PERSIST, on_event, c);

    if (event && libevent.event_add(event, NULL) < 0) {
        libevent.event_free(event);
        event = NULL;
    }
    return event;
}

static bool join_loop(struct client *c)
{
    struct progress *p = &c->progress;

    if (!program_libevent_find(&libevent))
        return false;
    p->on_wake = listen_on(c, p->wake_fd);
    p->on_data = c->server ? listen_on(c, c->server->conn.fd) : NULL;
    return p->on_wake && (!c->server || p->on_data);
}

static void leave_loop(struct progress *p)
{
    if (p->on_wake)
        libevent.event_free(p->on_wake);
    if (p->on_data)
        libevent.event_free(p->on_data);
    p->on_wake = p->on_data = NULL;
}

/* ---- for all kinds -------------------------------------------------------------------------- */

pmix_status_t progress_need(struct client *c)
{
    struct progress *p = &c->progress;
    bool good = true;

    if (p->started || p->kind == PROGRESS_PROGRAM)
        return PMIX_SUCCESS;
    p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (p->wake_fd < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    good = p->kind == PROGRESS_LOOP ? join_loop(c)
                                    : client_thread_create(&p->thread, &p->cpus, serve, c) == 0;
    if (good) {
        p->started = true;
        return PMIX_SUCCESS;
    }
    leave_loop(p);
    close(p->wake_fd);
    p->wake_fd = -1;
    return PMIX_ERR_OUT_OF_RESOURCE;
}

pmix_status_t progress_send(struct message *m, struct op *op)
{
    pmix_status_t rc = progress_need(m->c);

    if (rc == PMIX_SUCCESS)
        return op_send(m, op);
    conn_drop(&m->server->conn, m->from);
    op_free(op);
    return rc;
}

pmix_status_t progress_complete(struct client *c, struct op *op, pmix_status_t status)
{
    pmix_status_t rc = progress_need(c);

    if (rc == PMIX_SUCCESS)
        op_complete(c, op, status);
    else
        op_free(op);
    return rc;
}

void progress_once(struct client *c)
{
    struct progress *p = &c->progress;

    if (p->kind == PROGRESS_THREAD && p->started)
        return; /* it works without the program */
    if (!c->reading)
        reader_poll(c);
    if (p->kind != PROGRESS_THREAD && !p->running)
        run_tasks(c);
}

void progress_hand_over(struct client *c, bool flush)
{
    struct progress *p = &c->progress;

    if (p->kind != PROGRESS_THREAD || p->leaving || tasks_inside(c))
        return;
    if (p->started) {
        p->leaving = true;
        p->at_once = !flush;
        tasks_kick(c);
        client_unlock(c);
        pthread_join(p->thread, NULL);
        client_lock(c);
        close(p->wake_fd);
        p->wake_fd = -1;
        p->started = p->leaving = p->at_once = false;
    }
    p->kind = PROGRESS_PROGRAM;
}

static void drop_tasks(struct progress *p)
{
    LIST_EACH(l, &p->tasks)
    {
        struct client_task *t = LIST_OF(l, struct client_task, link);
        list_unlink(l);
        t->drop(t);
    }
}

void progress_stop(struct client *c)
{
    struct progress *p = &c->progress;
    bool inside = tasks_inside(c);

    p->stopping = true;
    if (p->started)
        tasks_kick(c);
    while (p->running && !inside)
        pthread_cond_wait(&p->wake, &c->gate->mutex);
    if (p->started && p->kind == PROGRESS_THREAD) {
        client_unlock(c);
        pthread_join(p->thread, NULL);
        client_lock(c);
    }
    leave_loop(p);
    if (p->wake_fd >= 0)
        close(p->wake_fd);
    p->wake_fd = -1;
    p->started = false;
    drop_tasks(p);
}

void progress_abandon(struct progress *p)
{
    if (p->wake_fd >= 0)
        close(p->wake_fd);
    p->wake_fd = -1;
    drop_tasks(p);
}
