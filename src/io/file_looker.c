/* file_looker.c - see file_looker.h.  Orders and results are two lists under one lock; the thread
 * waits for orders, the loop for a descriptor that tells of results.  Whoever of the two leaves
 * last frees both. */
#include "io/file_looker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct order {
    struct list link;
    int root; /* -1: our own */
    struct file_seen seen;
    char path[];
};

struct file_looker_shared {
    pthread_mutex_t lock;
    pthread_cond_t ordered;
    struct list orders, results;
    bool closed; /* by the loop's side */
    int fd;      /* readable: there are results */
};

/* ---- looking --------------------------------------------------------------------------------- */

static int64_t ns_of(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* Links and ".." in it stay below the root.  A kernel that cannot do that sees nothing. */
static int stat_below(int root, const char *path, struct stat *st)
{
    struct open_how how = { .flags = O_PATH | O_CLOEXEC,
                            .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how), rc;

    if (fd < 0)
        return -1;
    rc = fstat(fd, st);
    close(fd);
    return rc;
}

static void look(struct order *o)
{
    struct stat st;

    if ((o->root < 0 ? stat(o->path, &st) : stat_below(o->root, o->path, &st)) < 0)
        return;
    o->seen.found = true;
    o->seen.size = (uint64_t)st.st_size;
    o->seen.accessed_ns = ns_of(&st.st_atim);
    o->seen.modified_ns = ns_of(&st.st_mtim);
}

/* ---- both sides ------------------------------------------------------------------------------ */

static void order_free(struct order *o)
{
    list_unlink(&o->link);
    if (o->root >= 0)
        close(o->root);
    free(o);
}

static void free_all(struct list *orders)
{
    LIST_EACH(l, orders)
    order_free(LIST_OF(l, struct order, link));
}

static void shared_free(struct file_looker_shared *h)
{
    free_all(&h->orders);
    free_all(&h->results);
    if (h->fd >= 0)
        close(h->fd);
    pthread_cond_destroy(&h->ordered);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* The next one, taken off the list; NULL: the other side has left. */
static struct order *next_order(struct file_looker_shared *h)
{
    struct list *l;

    while (!h->closed && list_empty(&h->orders))
        pthread_cond_wait(&h->ordered, &h->lock);
    if (h->closed)
        return NULL;
    l = list_first(&h->orders);
    list_unlink(l);
    return LIST_OF(l, struct order, link);
}

static void *run(void *arg)
{
    struct file_looker_shared *h = arg;
    struct order *o;

    pthread_mutex_lock(&h->lock);
    while ((o = next_order(h))) {
        pthread_mutex_unlock(&h->lock);
        look(o);
        pthread_mutex_lock(&h->lock);
        list_append(&h->results, &o->link);
        eventfd_write(h->fd, 1);
    }
    pthread_mutex_unlock(&h->lock);
    shared_free(h);
    return NULL;
}

/* Signals are left to the other threads. */
static int start_thread(struct file_looker_shared *h)
{
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;
    int rc;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread, &attr, run, h);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return -rc;
}

/* ---- the loop's side ------------------------------------------------------------------------- */

void file_looker_open(struct file_looker *f, struct loop *l, file_seen_fn *fn, void *arg)
{
    *f = (struct file_looker){ .loop = l, .fn = fn, .arg = arg };
}

static struct order *take_result(struct file_looker_shared *h)
{
    struct list *l;

    pthread_mutex_lock(&h->lock);
    l = list_first(&h->results);
    if (l)
        list_unlink(l);
    pthread_mutex_unlock(&h->lock);
    return l ? LIST_OF(l, struct order, link) : NULL;
}

static void on_results(void *arg)
{
    struct file_looker *f = arg;
    struct order *o;
    eventfd_t n;

    eventfd_read(f->shared->fd, &n);
    while (f->shared && (o = take_result(f->shared))) {
        f->fn(f->arg, &o->seen);
        order_free(o);
    }
}

static int begin(struct file_looker *f)
{
    struct file_looker_shared *h = calloc(1, sizeof *h);
    int rc;

    if (!h)
        return -ENOMEM;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->ordered, NULL);
    list_init(&h->orders);
    list_init(&h->results);
    h->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    rc = h->fd < 0 ? -errno : start_thread(h);
    if (rc < 0) {
        shared_free(h);
        return rc;
    }
    f->shared = h;
    watch_open(&f->watch, f->loop, h->fd, on_results, NULL, f);
    return watch_want(&f->watch, LOOP_READ);
}

static struct order *order_new(uint64_t number, int root, struct slice path)
{
    struct order *o = calloc(1, sizeof *o + path.len + 1);

    if (!o)
        return NULL;
    list_init(&o->link);
    o->seen.number = number;
    if (path.len)
        memcpy(o->path, path.ptr, path.len);
    o->root = root ? fcntl(root, F_DUPFD_CLOEXEC, 0) : -1;
    if (root && o->root < 0) {
        free(o);
        return NULL;
    }
    return o;
}

int file_looker_ask(struct file_looker *f, uint64_t number, int root, struct slice path)
{
    int rc = f->shared ? 0 : begin(f);
    struct order *o = rc < 0 ? NULL : order_new(number, root, path);

    if (!o)
        return rc < 0 ? rc : -ENOMEM;
    pthread_mutex_lock(&f->shared->lock);
    list_append(&f->shared->orders, &o->link);
    pthread_cond_signal(&f->shared->ordered);
    pthread_mutex_unlock(&f->shared->lock);
    return 0;
}

void file_looker_close(struct file_looker *f)
{
    struct file_looker_shared *h = f->shared;

    if (!h)
        return;
    watch_close(&f->watch);
    f->shared = NULL;
    pthread_mutex_lock(&h->lock);
    h->closed = true;
    pthread_cond_signal(&h->ordered);
    pthread_mutex_unlock(&h->lock);
}
