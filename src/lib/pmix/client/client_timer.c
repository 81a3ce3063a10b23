/* client_timer.c - see client_timer.h. */
#include "lib/pmix/client/client_timer.h"

#include <time.h>

#include "base/clock.h"
#include "lib/pmix/client/client.h"
#include "lib/pmix/client/client_progress.h"

void client_timers_init(struct client_timers *t)
{
    *t = (struct client_timers){ .wake = PTHREAD_COND_INITIALIZER };
    list_init(&t->all);
}

static struct client_timer *timer_of(struct list *l)
{
    struct client_task *task = LIST_OF(l, struct client_task, link);

    return LIST_OF(task, struct client_timer, task);
}

/* Hands over those that are due; returns when the next one is. */
static uint64_t hand_over(struct client *c)
{
    uint64_t now = clock_now_ns(), next = UINT64_MAX;

    LIST_EACH(l, &c->timers.all)
    {
        struct client_timer *t = timer_of(l);
        if (t->at_ns <= now) {
            list_unlink(l);
            tasks_add(c, &t->task);
        } else if (t->at_ns < next) {
            next = t->at_ns;
        }
    }
    return next;
}

static void *wait_for_timers(void *arg)
{
    struct client *c = arg;
    struct client_timers *t = &c->timers;

    client_lock(c);
    while (!t->stopping) {
        uint64_t next = hand_over(c);
        struct timespec until = { (time_t)(next / NS_PER_S), (long)(next % NS_PER_S) };
        if (next == UINT64_MAX)
            pthread_cond_wait(&t->wake, &c->gate->mutex);
        else
            pthread_cond_clockwait(&t->wake, &c->gate->mutex, CLOCK_MONOTONIC, &until);
    }
    client_unlock(c);
    return NULL;
}

static bool start_thread(struct client *c)
{
    if (!c->timers.started)
        c->timers.started =
            client_thread_create(&c->timers.thread, &c->progress.cpus, wait_for_timers, c) == 0;
    return c->timers.started;
}

pmix_status_t client_timer_start(struct client *c, struct client_timer *t, uint64_t after_ns)
{
    pmix_status_t rc = progress_need(c);

    if (rc != PMIX_SUCCESS)
        return rc;
    if (c->timers.stopping || !start_thread(c))
        return PMIX_ERR_OUT_OF_RESOURCE;
    t->at_ns = clock_now_ns() + after_ns;
    list_append(&c->timers.all, &t->task.link);
    pthread_cond_signal(&c->timers.wake);
    return PMIX_SUCCESS;
}

void client_timer_stop(struct client_timer *t)
{
    list_unlink(&t->task.link);
}

void client_timers_abandon(struct client_timers *t)
{
    LIST_EACH(l, &t->all)
    {
        struct client_task *task = LIST_OF(l, struct client_task, link);
        list_unlink(l);
        task->drop(task);
    }
}

void client_timers_stop(struct client *c)
{
    struct client_timers *t = &c->timers;

    t->stopping = true;
    if (t->started) {
        pthread_cond_signal(&t->wake);
        client_unlock(c);
        pthread_join(t->thread, NULL);
        client_lock(c);
    }
    t->started = false;
    client_timers_abandon(t);
}
