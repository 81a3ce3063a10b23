/* staging_walk.c - see staging_walk.h.
 *
 * What has been found and not been looked at is a stack, so that a tree is gone through to its
 * depth first and few names wait.  A thread takes one from it, asks the file system without the
 * lock, and puts there what it has found below.  The walk is over when nothing waits and nobody
 * asks. Reading order: names; what is found; looking at it; the threads. */
#include "io/staging_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/askers.h"

enum { DEPTH_MOST = 100, ARENA_MOST = 1 << 30 };

struct walker {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct staging_walk *w;
    struct staging_entry *found, *unseen;
    unsigned busy;
    int rc; /* of the first failure */
    struct errmsg *err;
};

/* ---- names ----------------------------------------------------------------------------------- */

static int join(const char *front, const char *below, char *text, size_t room)
{
    int n = snprintf(text, room, "%s%s", front, below);

    return n < 0 || (size_t)n >= room ? -ENAMETOOLONG : 0;
}

int staging_entry_name(const struct staging_entry *e, char name[STAGING_NAME + 1])
{
    return join(e->source->name, e->below, name, STAGING_NAME + 1);
}

int staging_entry_path(const struct staging_entry *e, char path[STAGING_PATH])
{
    return join(e->source->path, e->below, path, STAGING_PATH);
}

int staging_entry_cannot(const struct staging_entry *e, int rc, struct errmsg *err)
{
    return errmsg_set(err, rc, "-stage: %.600s%.300s cannot be read: %s", e->source->path, e->below,
                      err_text(rc));
}

static unsigned depth(const struct staging_entry *e)
{
    unsigned n = 0;

    for (const char *p = e->below; *p; p++)
        n += *p == '/';
    return n;
}

/* ---- what is found --------------------------------------------------------------------------- */

static int no_memory(struct errmsg *err)
{
    return errmsg_set(err, -ENOMEM, "out of memory for staged files");
}

/* With the lock. */
static int add(struct walker *k, const struct staging_entry *found, struct errmsg *err)
{
    struct staging_entry *e = arena_alloc(&k->w->arena, sizeof *e);
    const char *below = arena_str(&k->w->arena, slice_str(found->below));

    if (!e || !below)
        return no_memory(err);
    *e = *found;
    e->below = below;
    e->next = k->found;
    k->found = e;
    k->w->n++;
    if (k->w->n > LIMIT_STAGING_ENTRIES || depth(e) > DEPTH_MOST)
        return errmsg_set(
            err, -EFBIG,
            "-stage: too large at %.600s%.200s: at most %u files, %u levels deep, are staged",
            e->source->path, e->below, LIMIT_STAGING_ENTRIES, DEPTH_MOST);
    if (e->kind == STAGING_LINK) /* its target is asked for when it is sent */
        return 0;
    e->next_unseen = k->unseen;
    k->unseen = e;
    pthread_cond_signal(&k->changed);
    return 0;
}

static int add_below(struct walker *k, const struct staging_entry *dir, const struct dirent *d,
                     struct errmsg *err)
{
    struct staging_entry e = { .source = dir->source };
    char below[STAGING_PATH], name[STAGING_NAME + 1];
    int n = snprintf(below, sizeof below, "%s/%s", dir->below, d->d_name);
    int rc;

    e.below = below;
    e.kind = d->d_type == DT_DIR ? STAGING_DIR : d->d_type == DT_LNK ? STAGING_LINK : STAGING_FILE;
    if (n < 0 || (size_t)n >= sizeof below || staging_entry_name(&e, name) ||
        !staging_name_is_good(slice_str(name)))
        return staging_entry_cannot(&e, -ENAMETOOLONG, err);
    pthread_mutex_lock(&k->lock);
    rc = add(k, &e, err);
    pthread_mutex_unlock(&k->lock);
    return rc;
}

static int add_size(struct walker *k, const struct staging_entry *e, struct errmsg *err)
{
    uint64_t size;

    pthread_mutex_lock(&k->lock);
    size = k->w->size += e->size;
    pthread_mutex_unlock(&k->lock);
    return size <= LIMIT_STAGING_BYTES
               ? 0
               : errmsg_set(err, -EFBIG,
                            "-stage: too large: with %.500s%.200s there are %llu MB; at most %llu "
                            "MB are staged",
                            e->source->path, e->below, (unsigned long long)(size >> 20),
                            (unsigned long long)(LIMIT_STAGING_BYTES >> 20));
}

/* ---- looking at it --------------------------------------------------------------------------- */

static int look_below(struct walker *k, struct staging_entry *e, const char *path,
                      struct errmsg *err)
{
    int follows = e->below[0] ? O_NOFOLLOW : 0;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | follows);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry = NULL;
    struct stat st;
    int rc = 0;

    if (!d || fstat(fd, &st) < 0) {
        rc = staging_entry_cannot(e, -errno, err);
        if (d)
            closedir(d);
        else if (fd >= 0)
            close(fd);
        return rc;
    }
    e->mode = st.st_mode;
    while (rc == 0 && (errno = 0, entry = readdir(d))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = add_below(k, e, entry, err);
    }
    if (rc == 0 && errno)
        rc = staging_entry_cannot(e, -errno, err);
    closedir(d);
    return rc;
}

static int is_other(const struct staging_entry *e, mode_t mode, struct errmsg *err)
{
    return errmsg_set(err, -EINVAL,
                      "-stage: %.600s%.200s is a %s; only files, directories and links are staged",
                      e->source->path, e->below,
                      S_ISFIFO(mode)   ? "pipe"
                      : S_ISSOCK(mode) ? "socket"
                                       : "device");
}

static int look(struct walker *k, struct staging_entry *e, struct errmsg *err)
{
    char path[STAGING_PATH];
    struct stat st;
    int rc = staging_entry_path(e, path);

    if (rc)
        return staging_entry_cannot(e, rc, err);
    if (e->kind == STAGING_DIR)
        return look_below(k, e, path, err);
    if (fstatat(AT_FDCWD, path, &st, e->below[0] ? AT_SYMLINK_NOFOLLOW : 0) < 0)
        return staging_entry_cannot(e, -errno, err);
    e->kind = S_ISDIR(st.st_mode) ? STAGING_DIR : S_ISLNK(st.st_mode) ? STAGING_LINK : STAGING_FILE;
    if (e->kind == STAGING_DIR)
        return look_below(k, e, path, err);
    if (e->kind == STAGING_LINK)
        return 0;
    if (!S_ISREG(st.st_mode))
        return is_other(e, st.st_mode, err);
    e->mode = st.st_mode;
    e->size = (uint64_t)st.st_size;
    e->changed = st.st_mtim;
    return add_size(k, e, err);
}

/* ---- the threads ----------------------------------------------------------------------------- */

static struct staging_entry *take(struct walker *k)
{
    struct staging_entry *e;

    while (!k->unseen && k->busy && k->rc == 0)
        pthread_cond_wait(&k->changed, &k->lock);
    e = k->rc ? NULL : k->unseen;
    if (e) {
        k->unseen = e->next_unseen;
        k->busy++;
    }
    return e;
}

static void *ask(void *arg)
{
    struct walker *k = arg;
    struct staging_entry *e;
    struct errmsg err = { "" };
    int rc;

    pthread_mutex_lock(&k->lock);
    while ((e = take(k))) {
        pthread_mutex_unlock(&k->lock);
        rc = look(k, e, &err);
        pthread_mutex_lock(&k->lock);
        k->busy--;
        if (rc && k->rc == 0) {
            k->rc = rc;
            errmsg_set(k->err, rc, "%s", err.text);
        }
        if (k->rc || (!k->unseen && !k->busy))
            pthread_cond_broadcast(&k->changed);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    const struct staging_entry *x = *(struct staging_entry *const *)a,
                               *y = *(struct staging_entry *const *)b;

    return x->source != y->source ? (x->source < y->source ? -1 : 1) : strcmp(x->below, y->below);
}

static int sort(struct walker *k)
{
    struct staging_walk *w = k->w;
    uint32_t i = 0;

    w->entries = arena_array(&w->arena, w->n + 1, sizeof(struct staging_entry *));
    if (!w->entries)
        return no_memory(k->err);
    for (struct staging_entry *e = k->found; e; e = e->next)
        w->entries[i++] = e;
    qsort(w->entries, w->n, sizeof(struct staging_entry *), by_name);
    return 0;
}

int staging_walk(struct staging_walk *w, const struct staging_source *sources, uint32_t n,
                 struct errmsg *err)
{
    struct walker k = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .w = w, .err = err
    };
    struct askers others;

    *w = (struct staging_walk){ .arena = ARENA_NULL(ARENA_MOST) };
    for (uint32_t i = 0; i < n && k.rc == 0; i++)
        k.rc = add(
            &k, &(struct staging_entry){ .source = &sources[i], .below = "", .kind = STAGING_FILE },
            err);
    if (k.rc == 0) {
        askers_start(&others, ask, &k);
        ask(&k);
        askers_join(&others);
    }
    return k.rc ? k.rc : sort(&k);
}

void staging_walk_free(struct staging_walk *w)
{
    arena_free(&w->arena);
}
