/* staging_ahead.c - see staging_ahead.h. */
#include "io/staging_ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_AHEAD = 1 << 20 };

/* (A pipe that has taken the place of a file does not block.) */
static int open_file(const struct staging_entry *e, const char *path, struct staging_opened *o)
{
    int follows = e->below[0] ? O_NOFOLLOW : 0;

    o->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | follows);
    if (o->fd < 0 || fstat(o->fd, &o->st) < 0)
        return -errno;
    posix_fadvise(o->fd, 0, READ_AHEAD, POSIX_FADV_WILLNEED);
    return 0;
}

static int read_link(const char *path, struct staging_opened *o)
{
    char target[STAGING_NAME + 1];
    ssize_t n = readlink(path, target, sizeof target);

    if (n < 0 || (size_t)n > STAGING_NAME)
        return n < 0 ? -errno : -ENAMETOOLONG;
    o->target = strndup(target, (size_t)n);
    return o->target ? 0 : -ENOMEM;
}

static void open_one(const struct staging_entry *e, struct staging_opened *o)
{
    char path[STAGING_PATH];

    *o = (struct staging_opened){ .fd = -1, .rc = staging_entry_path(e, path) };
    if (o->rc == 0 && e->kind == STAGING_FILE)
        o->rc = open_file(e, path, o);
    if (o->rc == 0 && e->kind == STAGING_LINK)
        o->rc = read_link(path, o);
}

static void close_one(struct staging_opened *o)
{
    if (o->fd >= 0)
        close(o->fd);
    free(o->target);
    *o = (struct staging_opened){ .fd = -1 };
}

/* Opens the next one; with the lock, which is not held meanwhile. */
static void advance(struct staging_ahead *a)
{
    uint32_t i = a->next++;
    struct staging_opened o;

    pthread_mutex_unlock(&a->lock);
    open_one(a->w->entries[i], &o);
    pthread_mutex_lock(&a->lock);
    o.ready = true;
    a->window[i % STAGING_AHEAD] = o;
    pthread_cond_signal(&a->opened);
}

static void *run(void *arg)
{
    struct staging_ahead *a = arg;

    pthread_mutex_lock(&a->lock);
    while (!a->ends && a->next < a->w->n) {
        if (a->next - a->first < STAGING_AHEAD)
            advance(a);
        else
            pthread_cond_wait(&a->taken, &a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

void staging_ahead_start(struct staging_ahead *a, const struct staging_walk *w)
{
    *a = (struct staging_ahead){ .w = w,
                                 .lock = PTHREAD_MUTEX_INITIALIZER,
                                 .opened = PTHREAD_COND_INITIALIZER,
                                 .taken = PTHREAD_COND_INITIALIZER };
    for (unsigned i = 0; i < STAGING_AHEAD; i++)
        a->window[i].fd = -1;
    askers_start(&a->askers, run, a);
}

const struct staging_opened *staging_ahead_next(struct staging_ahead *a)
{
    struct staging_opened *o = &a->window[a->first % STAGING_AHEAD];

    if (a->holds)
        close_one(o);
    pthread_mutex_lock(&a->lock);
    if (a->holds)
        o = &a->window[++a->first % STAGING_AHEAD];
    a->holds = true;
    pthread_cond_signal(&a->taken);
    while (!o->ready) {
        if (a->askers.n == 0)
            advance(a);
        else
            pthread_cond_wait(&a->opened, &a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return o;
}

void staging_ahead_end(struct staging_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->ends = true;
    pthread_cond_broadcast(&a->taken);
    pthread_mutex_unlock(&a->lock);
    askers_join(&a->askers);
    for (unsigned i = 0; i < STAGING_AHEAD; i++)
        close_one(&a->window[i]);
}
