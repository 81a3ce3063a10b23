/* create.c - see create.h. */
#include "io/create.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { TRIES = 8, LINKS_MOST = 8, PROC_MAGIC = 0x9fa0 };

enum {
    WRITE = O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
    PLACE = O_PATH | O_DIRECTORY | O_CLOEXEC,
};

int create_new(const char *path)
{
    int fd = open(path, WRITE | O_CREAT | O_EXCL, 0600);

    return fd < 0 ? -errno : fd;
}

int create_name(const char *file, const char *name)
{
    return link(file, name) < 0 ? -errno : 0;
}

int create_check_private(const char *path)
{
    struct stat st;

    if (lstat(path, &st) < 0)
        return -errno;
    return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0 ? 0 : -EACCES;
}

/* Another process of ours may remove it between the two calls. */
int create_private(const char *path)
{
    int rc = -ENOENT;

    for (int i = 0; i < TRIES && rc == -ENOENT; i++) {
        if (mkdir(path, 0700) == 0)
            return 0;
        if (errno != EEXIST)
            return -errno;
        rc = create_check_private(path);
    }
    return rc;
}

int create_private_at(int dir, const char *name)
{
    return mkdirat(dir, name, 0700) < 0 ? -errno : 0;
}

int create_new_at(int dir, const char *name)
{
    int fd = openat(dir, name, WRITE | O_CREAT | O_EXCL, 0600);

    return fd < 0 ? -errno : fd;
}

int create_link_at(int dir, const char *name, const char *target)
{
    return symlinkat(target, dir, name) < 0 ? -errno : 0;
}

int create_rename_at(int dir, const char *early, const char *name)
{
    return renameat(dir, early, dir, name) < 0 ? -errno : 0;
}

/* ---- files that the user has named ----------------------------------------------------------- */

/* The place of a name: its directory, open, and its last component. */
struct create_place {
    int dir;
    char name[NAME_MAX + 1];
    bool shared; /* everybody may create names here */
};

/* Opens the directory of a path that begins in `from`, which is closed. */
static int find_place(int from, const char *path, struct create_place *p)
{
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    char dir[PATH_MAX];
    struct stat st;
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    int old = from;

    if (strlen(last) >= sizeof p->name || n >= sizeof dir)
        return -ENAMETOOLONG;
    memcpy(dir, n ? path : ".", n ? n : 1);
    dir[n ? n : 1] = '\0';
    memcpy(p->name, last, strlen(last) + 1);
    p->dir = openat(from, dir, PLACE);
    if (old != AT_FDCWD)
        close(old);
    if (p->dir < 0)
        return -errno;
    if (last[0] == '\0')
        return -EISDIR;
    if (fstat(p->dir, &st) < 0)
        return -errno;
    p->shared = st.st_mode & S_IWOTH;
    return 0;
}

/* The text of a symbolic link that may be followed; 1: the kernel's own (/dev/stdout), whose text
 * is no path. */
static int read_link(const struct create_place *p, char *text, size_t room)
{
    int at = openat(p->dir, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = 0;
    struct statfs fs;
    struct stat st;
    ssize_t n;

    if (at < 0)
        return -errno;
    if (fstat(at, &st) < 0 || fstatfs(at, &fs) < 0)
        rc = -errno;
    else if (!S_ISLNK(st.st_mode))
        rc = -EAGAIN; /* it has changed meanwhile */
    else if (fs.f_type == PROC_MAGIC)
        rc = 1;
    else if (st.st_uid != geteuid() && st.st_uid != 0)
        rc = -ELOOP;
    else if ((n = readlinkat(at, "", text, room)) < 0 || (size_t)n >= room)
        rc = n < 0 ? -errno : -ENAMETOOLONG;
    else
        text[n] = '\0';
    close(at);
    return rc;
}

/* Checks that an existing object may be replaced.  Pipes and devices are not replaced. */
static int take_over(int fd, const struct create_place *p)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0)
        return -errno;
    if (p->shared && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode)) && st.st_uid != geteuid())
        return -EACCES;
    if (!S_ISREG(st.st_mode))
        return 0;
    if (p->shared && st.st_nlink > 1)
        return -EACCES;
    return ftruncate(fd, 0) < 0 ? -errno : 0;
}

/* One name: the descriptor; -ELOOP: a symbolic link; -errno. */
static int open_here(const struct create_place *p, mode_t mode)
{
    int fd = openat(p->dir, p->name, WRITE | O_CREAT | O_EXCL, mode), rc;

    if (fd >= 0)
        return fd;
    if (errno != EEXIST)
        return -errno;
    fd = openat(p->dir, p->name, WRITE | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    rc = take_over(fd, p);
    if (rc < 0)
        close(fd);
    return rc < 0 ? rc : fd;
}

/* Inside the name space of an ordinary user, the owner of these links is nobody we know. */
static const char *without_dev(const char *path)
{
    if (!strcmp(path, "/dev/stdout"))
        return "/proc/self/fd/1";
    return strcmp(path, "/dev/stderr") ? path : "/proc/self/fd/2";
}

/* Follows links itself, and checks the owner of each. */
static int open_named(const char *path, mode_t mode, struct create_place *p)
{
    char text[PATH_MAX];
    int from = AT_FDCWD, rc;

    for (int i = 0; i < LINKS_MOST; i++) {
        rc = find_place(from, i ? text : without_dev(path), p);
        if (rc == 0)
            rc = open_here(p, mode);
        if (rc != -ELOOP)
            return rc;
        rc = read_link(p, text, sizeof text);
        if (rc == 1) {
            rc = openat(p->dir, p->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
            return rc < 0 ? -errno : rc;
        }
        if (rc < 0)
            return rc;
        from = p->dir;
        p->dir = -1;
    }
    close(from);
    return -ELOOP;
}

static const char *reason(int rc)
{
    switch (rc) {
    case -ELOOP: return "it is a symbolic link of another user";
    case -ENXIO: return "it is a pipe that nobody reads";
    default: return err_text(rc);
    }
}

int create_named(const char *path, mode_t mode, struct errmsg *err)
{
    struct create_place p = { .dir = -1 };
    int rc = open_named(path, mode, &p);

    if (p.dir >= 0)
        close(p.dir);
    if (rc == -EACCES && p.shared)
        return errmsg_set(err, rc,
                          "cannot write %.400s: in a directory that everybody may write to there "
                          "is a file of another user, or a file with several links, of this name",
                          path);
    if (rc < 0)
        return errmsg_set(err, rc, "cannot write %.400s: %s", path, reason(rc));
    return rc;
}

/* ---- directories that the user has named ----------------------------------------------------- */

/* What is there already: a directory that we can trust, or a link to one. */
static int accept_directory(const struct create_place *p)
{
    struct stat st;

    if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (p->shared && st.st_uid != geteuid() && st.st_uid != 0)
        return -EACCES;
    return S_ISDIR(st.st_mode) || S_ISLNK(st.st_mode) ? 0 : -ENOTDIR;
}

static int make_directory(const char *path)
{
    struct create_place p = { .dir = -1 };
    int rc = find_place(AT_FDCWD, path, &p);

    if (rc == 0 && mkdirat(p.dir, p.name, 0777) < 0)
        rc = errno == EEXIST ? accept_directory(&p) : -errno;
    if (p.dir >= 0)
        close(p.dir);
    return rc;
}

int create_parents(const char *path, struct errmsg *err)
{
    char part[PATH_MAX];
    int rc = strlen(path) < sizeof part ? 0 : -ENAMETOOLONG;

    for (const char *at = path + 1; rc == 0 && *path && (at = strchr(at, '/')); at++) {
        if (at[-1] == '/') /* two of them are as one */
            continue;
        memcpy(part, path, (size_t)(at - path));
        part[at - path] = '\0';
        rc = make_directory(part);
    }
    if (rc < 0)
        return errmsg_set(err, rc, "cannot create the directory of %.400s: %s", path, err_text(rc));
    return 0;
}
