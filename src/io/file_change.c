/* file_change.c - see file_change.h. */
#include "io/file_change.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    EVENTS = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
};

/* Cuts the last component off.  The components that are left name a directory. */
static void to_parent(char *path, char *name)
{
    char *slash = strrchr(path, '/');

    snprintf(name, PATH_MAX, "%s", slash ? slash + 1 : path);
    if (slash && slash > path)
        *slash = '\0';
    else
        strcpy(path, slash ? "/" : ".");
}

/* Returns how far above the file that directory is, or -errno. */
static int watch_above(struct file_change *f)
{
    char path[PATH_MAX];
    int rc = -ENOENT, height = 0;

    snprintf(path, sizeof path, "%s", f->path);
    while (rc == -ENOENT && strcmp(path, "/") != 0 && strcmp(path, ".") != 0) {
        to_parent(path, f->name);
        rc = inotify_add_watch(f->fd, path, EVENTS) < 0 ? -errno : 0;
        height++;
    }
    return rc < 0 ? rc : height;
}

/* The directory below may have appeared before the one above was watched: looks until nothing
 * changes.  Watches of former directories stay, and tell nothing that is wrong. */
static int watch_nearest(struct file_change *f)
{
    int height = watch_above(f), last = 0;

    while (height > 1 && height != last) {
        last = height;
        height = watch_above(f);
    }
    return height < 0 ? height : 0;
}

/* Whether it is about the awaited name, or the directory itself. */
static bool concerns(const struct file_change *f, const struct inotify_event *e)
{
    return e->len == 0 || !strcmp(e->name, f->name);
}

static bool read_events(struct file_change *f)
{
    _Alignas(struct inotify_event) char room[4096];
    ssize_t n = read(f->fd, room, sizeof room);
    bool found = false;

    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e = (const void *)(room + at);
        found = found || concerns(f, e);
        at += (ssize_t)sizeof *e + e->len;
    }
    return found;
}

static void on_read(void *arg)
{
    struct file_change *f = arg;

    if (!read_events(f))
        return;
    watch_nearest(f); /* a directory may have appeared */
    f->fn(f->arg);
}

static int begin(struct file_change *f)
{
    int rc = f->fd < 0 ? -errno : watch_nearest(f);

    return rc < 0 ? rc : watch_want(&f->watch, LOOP_READ);
}

int file_change_open(struct file_change *f, struct loop *l, const char *path, loop_fn *fn,
                     void *arg)
{
    int rc;

    *f = (struct file_change){ .path = path, .fn = fn, .arg = arg };
    if (strlen(path) >= PATH_MAX)
        return -ENAMETOOLONG;
    f->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (f->fd >= 0)
        watch_open(&f->watch, l, f->fd, on_read, NULL, f);
    rc = begin(f);
    if (rc < 0)
        file_change_close(f);
    return rc;
}

void file_change_close(struct file_change *f)
{
    if (!f->path)
        return;
    watch_close(&f->watch);
    if (f->fd >= 0)
        close(f->fd);
    *f = (struct file_change){ .path = NULL };
}
