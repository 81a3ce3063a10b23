/* file_looker.c - see file_looker.h.  The loop and the thread share no memory: orders and results
 * are messages on a pair of sockets, of which each has one.  The thread ends when the other is
 * closed.
 */
#include "io/file_looker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/side_thread.h"

struct order {
    uint64_t number;
    int root; /* -1: our own; it is the order's, as descriptors are of the whole process */
    char path[PATH_MAX];
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

static struct file_seen look(const struct order *o)
{
    struct file_seen seen = { .number = o->number };
    struct stat st;

    if ((o->root < 0 ? stat(o->path, &st) : stat_below(o->root, o->path, &st)) < 0)
        return seen;
    seen.found = true;
    seen.size = (uint64_t)st.st_size;
    seen.accessed_ns = ns_of(&st.st_atim);
    seen.modified_ns = ns_of(&st.st_mtim);
    return seen;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *run(void *arg)
{
    int fd = (int)(intptr_t)arg;
    struct order o;

    while (recv(fd, &o, sizeof o, 0) > 0) {
        struct file_seen seen = look(&o);
        if (o.root >= 0)
            close(o.root);
        send(fd, &seen, sizeof seen, MSG_NOSIGNAL);
    }
    close(fd);
    return NULL;
}

/* ---- the loop's side ------------------------------------------------------------------------- */

void file_looker_open(struct file_looker *f, struct loop *l, file_seen_fn *fn, void *arg)
{
    *f = (struct file_looker){ .loop = l, .fn = fn, .arg = arg, .fd = -1 };
}

static void on_result(void *arg)
{
    struct file_looker *f = arg;
    struct file_seen seen;

    if (recv(f->fd, &seen, sizeof seen, MSG_DONTWAIT) == sizeof seen)
        f->fn(f->arg, &seen);
}

static int begin(struct file_looker *f)
{
    int fds[2], rc;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return -errno;
    rc = side_thread_start(run, (void *)(intptr_t)fds[1]);
    if (rc < 0) {
        close(fds[0]);
        close(fds[1]);
        return rc;
    }
    f->fd = fds[0];
    watch_open(&f->watch, f->loop, f->fd, on_result, NULL, f);
    rc = watch_want(&f->watch, LOOP_READ);
    if (rc < 0)
        file_looker_close(f); /* the thread ends with it */
    return rc;
}

/* Not when so much is still to be looked at that the socket is full. */
static int send_order(int fd, const struct order *o, size_t path)
{
    size_t n = offsetof(struct order, path) + path + 1;

    return send(fd, o, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n ? 0 : -errno;
}

int file_looker_ask(struct file_looker *f, uint64_t number, int root, struct slice path)
{
    struct order o = { .number = number, .root = -1 };
    int rc = f->fd >= 0 ? 0 : begin(f);

    if (rc < 0 || path.len >= sizeof o.path)
        return rc < 0 ? rc : -ENAMETOOLONG;
    if (path.len)
        memcpy(o.path, path.ptr, path.len);
    if (root && (o.root = fcntl(root, F_DUPFD_CLOEXEC, 0)) < 0)
        return -errno;
    rc = send_order(f->fd, &o, path.len);
    if (rc < 0 && o.root >= 0)
        close(o.root);
    return rc;
}

void file_looker_close(struct file_looker *f)
{
    if (!f->loop || f->fd < 0)
        return;
    watch_close(&f->watch);
    close(f->fd);
    f->fd = -1;
}
