/* session_dir.c - see session_dir.h. */
#include "io/session_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/create.h"
#include "io/cleanup.h"

enum { TRIES = 8, BIRTH_S = 60, OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

void session_dir_name(struct session_dir *d, const char *tmp)
{
    unsigned salt[2] = { 0, 0 };
    int n, rc;

    *d = SESSION_DIR_NULL;
    if (access(tmp, W_OK | X_OK) < 0 || getrandom(salt, sizeof salt, 0) < 0)
        return;
    n = snprintf(d->base, sizeof d->base, "%s/wireup-%lu", tmp, (unsigned long)geteuid());
    if (n > (int)sizeof d->base - 64) /* no room for the levels below */
        return;
    rc = create_check_private(d->base);
    d->own_base = rc < 0 && rc != -ENOENT;
    if (d->own_base)
        snprintf(d->base + n, sizeof d->base - (size_t)n, ".%08x%08x", salt[0], salt[1]);
    snprintf(d->path, sizeof d->path, "%.440s/%ld-%08x", d->base, (long)getpid(), salt[0]);
}

static const char *own_name(const struct session_dir *d)
{
    return strrchr(d->path, '/') + 1;
}

static void clean_path(const char *path)
{
    cleanup_run(&(struct cleanup_order){
        .path = slice_str(path), .uid = geteuid(), .directory = true, .recursive = true });
}

/* ---- stale directories ----------------------------------------------------------------------- */

/* Its owner is gone if its lock is free. */
static void remove_left(const char *base, int base_fd, const char *name)
{
    char path[SESSION_DIR_MAX + 256];
    int fd = openat(base_fd, name, OPEN_DIR);

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        (size_t)snprintf(path, sizeof path, "%s/%s", base, name) < sizeof path)
        clean_path(path);
    close(fd);
}

/* Is this a directory whose owner was killed between making and locking it? */
static bool is_stillborn(const struct session_dir *d, int base_fd, const char *name)
{
    struct stat st;

    return !strcmp(name + 1, own_name(d)) ||
           (fstatat(base_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_ctime + BIRTH_S < time(NULL));
}

static bool may_be_left(const struct session_dir *d, int base_fd, const char *name)
{
    if (!strcmp(name, ".") || !strcmp(name, ".."))
        return false;
    return name[0] == '.' ? is_stillborn(d, base_fd, name) : strcmp(name, own_name(d)) != 0;
}

static void clear_base(const struct session_dir *d, int base_fd)
{
    int fd = openat(base_fd, ".", OPEN_DIR);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;

    if (!dir && fd >= 0)
        close(fd);
    while (dir && (e = readdir(dir))) {
        if (may_be_left(d, base_fd, e->d_name))
            remove_left(d->base, base_fd, e->d_name);
    }
    if (dir)
        closedir(dir);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* The first level, open. */
static int open_base(const struct session_dir *d)
{
    int rc = create_private(d->base), fd;

    if (rc < 0)
        return rc;
    fd = open(d->base, OPEN_DIR);
    return fd < 0 ? -errno : fd;
}

/* The directory has another name until it is locked, so that nobody takes it for stale. */
static int make_locked(int base_fd, const char *name)
{
    char early[NAME_MAX];
    struct stat st;
    int rc, fd;

    snprintf(early, sizeof early, ".%.*s", NAME_MAX - 2, name);
    rc = create_private_at(base_fd, early);
    if (rc < 0 && rc != -EEXIST)
        return rc;
    fd = openat(base_fd, early, OPEN_DIR);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        (st.st_mode & 077) == 0 && create_rename_at(base_fd, early, name) == 0)
        return fd;
    close(fd);
    return -ENOENT;
}

/* Another launch of ours that ends removes the first level at any moment if it is empty. */
static int make_top(struct session_dir *d)
{
    int rc = -ENOENT;

    for (int i = 0; i < TRIES && rc == -ENOENT; i++) {
        int base_fd = open_base(d);
        rc = base_fd;
        if (base_fd < 0)
            continue;
        rc = make_locked(base_fd, own_name(d));
        if (rc >= 0) {
            d->fd = rc;
            clear_base(d, base_fd);
        }
        close(base_fd);
    }
    return rc < 0 ? rc : 0;
}

static int make_below(int at, uint32_t number)
{
    char name[16];
    int rc;

    snprintf(name, sizeof name, "%u", number);
    rc = create_private_at(at, name);
    return rc == -EEXIST ? 0 : rc;
}

/* Programs may clean up after themselves, and remove the job's directory too. */
static int make_rank(int top, uint32_t job, uint32_t rank)
{
    char name[16];
    int rc = make_below(top, job), at;

    snprintf(name, sizeof name, "%u", job);
    if (rc < 0)
        return rc;
    at = openat(top, name, OPEN_DIR);
    if (at < 0)
        return -errno;
    if (rank != SESSION_DIR_JOB)
        rc = make_below(at, rank);
    close(at);
    return rc;
}

int session_dir_make(struct session_dir *d, uint32_t job, uint32_t rank)
{
    int rc = d->path[0] ? 0 : -ENOENT;

    if (rc == 0 && d->fd < 0)
        rc = make_top(d);
    for (int i = 0; rc == 0 && i < TRIES; i++) {
        rc = make_rank(d->fd, job, rank);
        if (rc != -ENOENT)
            return rc;
        rc = 0;
    }
    return rc;
}

/* ---- removing -------------------------------------------------------------------------------- */

void session_dir_drop(struct session_dir *d, uint32_t job)
{
    char path[SESSION_DIR_MAX + 16];

    if (d->fd < 0)
        return;
    snprintf(path, sizeof path, "%s/%u", d->path, job);
    clean_path(path);
}

/* Killed daemons of this launch on this machine have left their directories, too. */
void session_dir_remove(struct session_dir *d)
{
    int base_fd = d->path[0] ? open(d->base, OPEN_DIR) : -1;

    if (base_fd >= 0) {
        clean_path(d->path);
        clear_base(d, base_fd);
        close(base_fd);
        rmdir(d->base); /* stays while another launch of ours uses it */
    }
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
}
