/* server_cleanup.c - see server_cleanup.h.  The threads do not use the server, which may be gone
 * before they are. */
#include "lib/pmix/server/server_cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/limit.h"
#include "base/list.h"
#include "io/act_as.h"
#include "io/side_thread.h"

struct cleanup {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    struct log log;
    struct list users; /* struct user */
    bool abandoned;    /* the last thread frees it */
};

/* A thread, and its work. */
struct user {
    struct list link;
    struct cleanup *c;
    uid_t uid;
    gid_t gid;
    struct list paths; /* struct path */
};

struct path {
    struct list link;
    struct cleanup_order order;
    char text[];
};

struct cleanup *cleanup_new(const struct log *log)
{
    struct cleanup *c = calloc(1, sizeof *c);
    pthread_condattr_t attr;

    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->idle, &attr);
    pthread_condattr_destroy(&attr);
    c->log = *log;
    list_init(&c->users);
    return c;
}

static void release(struct cleanup *c)
{
    pthread_cond_destroy(&c->idle);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void cleanup_free(struct cleanup *c)
{
    struct timespec until;
    bool last;

    if (!c)
        return;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LIMIT_CLEANUP_MS / 1000;
    pthread_mutex_lock(&c->lock);
    while (!list_empty(&c->users) &&
           pthread_cond_timedwait(&c->idle, &c->lock, &until) != ETIMEDOUT)
        continue;
    last = list_empty(&c->users);
    c->abandoned = true;
    pthread_mutex_unlock(&c->lock);
    if (last)
        release(c);
}

bool cleanup_can(uid_t uid, gid_t gid)
{
    return act_as_is_self(uid, gid) || act_as_try(uid, gid) == 0;
}

static void clear_up(const struct cleanup *c, const struct cleanup_order *o)
{
    int rc = cleanup_run(o);

    if (rc < 0 && rc != -ENOENT)
        log_warn(&c->log, "cannot remove " SLICE_FMT " as user %u: %s", SLICE_ARG(o->path),
                 (unsigned)o->uid, err_text(rc));
}

/* Locked; if there is none, the user is removed from the list. */
static struct path *next_path(struct user *u)
{
    struct list *l = list_first(&u->paths);

    list_unlink(l ? l : &u->link);
    return l ? LIST_OF(l, struct path, link) : NULL;
}

static void *run_user(void *arg)
{
    struct user *u = arg;
    struct cleanup *c = u->c;
    bool may = act_as(u->uid, u->gid) == 0, last;
    struct path *p;

    pthread_mutex_lock(&c->lock);
    while ((p = next_path(u))) {
        pthread_mutex_unlock(&c->lock);
        if (may)
            clear_up(c, &p->order);
        else
            log_warn(&c->log,
                     "cannot remove " SLICE_FMT ": the rights of user %u cannot be determined",
                     SLICE_ARG(p->order.path), (unsigned)u->uid);
        free(p);
        pthread_mutex_lock(&c->lock);
    }
    last = c->abandoned && list_empty(&c->users);
    pthread_cond_broadcast(&c->idle);
    pthread_mutex_unlock(&c->lock);
    free(u);
    if (last)
        release(c);
    return NULL;
}

/* Locked. */
static struct user *user_of(struct cleanup *c, uid_t uid, gid_t gid)
{
    struct user *u;

    LIST_EACH(l, &c->users)
    {
        u = LIST_OF(l, struct user, link);
        if (u->uid == uid && u->gid == gid)
            return u;
    }
    u = calloc(1, sizeof *u);
    if (!u)
        return NULL;
    u->c = c;
    u->uid = uid;
    u->gid = gid;
    list_init(&u->link);
    list_init(&u->paths);
    if (side_thread_start(run_user, u) <
        0) { /* it waits for our lock before it looks at any of this */
        free(u);
        return NULL;
    }
    list_append(&c->users, &u->link);
    return u;
}

static struct path *copy_order(const struct cleanup_order *o)
{
    struct path *p = calloc(1, sizeof *p + o->path.len + o->stay.len);

    if (!p)
        return NULL;
    list_init(&p->link);
    p->order = *o;
    memcpy(p->text, o->path.ptr, o->path.len);
    p->order.path = slice_mem(p->text, o->path.len);
    if (o->stay.len)
        memcpy(p->text + o->path.len, o->stay.ptr, o->stay.len);
    p->order.stay = slice_mem(p->text + o->path.len, o->stay.len);
    return p;
}

void cleanup_add(struct cleanup *c, const struct cleanup_order *o, gid_t gid)
{
    struct path *p;
    struct user *u;

    if (act_as_is_self(o->uid, gid)) {
        clear_up(c, o);
        return;
    }
    p = copy_order(o);
    pthread_mutex_lock(&c->lock);
    u = p ? user_of(c, o->uid, gid) : NULL;
    if (u)
        list_append(&u->paths, &p->link);
    pthread_mutex_unlock(&c->lock);
    if (u)
        return;
    free(p);
    log_warn(&c->log, "cannot remove " SLICE_FMT ": out of memory or threads", SLICE_ARG(o->path));
}
