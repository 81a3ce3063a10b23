/* client_tasks.c - see client_tasks.h. */
#include "lib/pmix/client/client_tasks.h"

#include <unistd.h>

#include "lib/pmix/client/client.h"

bool tasks_inside(struct client *c)
{
    return c->progress.running && pthread_equal(c->progress.thread, pthread_self());
}

static bool is_mine(const struct progress *p)
{
    return pthread_equal(p->thread, pthread_self());
}

void tasks_kick(struct client *c)
{
    struct progress *p = &c->progress;
    uint64_t one = 1;

    if (!p->started)
        return;
    if (p->kind == PROGRESS_THREAD && !p->in_poll)
        pthread_cond_broadcast(&p->wake);
    else if (write(p->wake_fd, &one, sizeof one) < 0)
        return; /* the counter is full: enough to wake any thread */
}

void tasks_add(struct client *c, struct client_task *t)
{
    struct progress *p = &c->progress;

    list_append(&p->tasks, &t->link);
    /* Our own thread looks at the list before it sleeps. */
    if (!(p->kind == PROGRESS_THREAD && p->started && is_mine(p)))
        tasks_kick(c);
}
