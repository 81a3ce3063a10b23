/* tool_files.c - see tool_files.h. */
#include "io/tool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/slice.h"
#include "io/create.h"

enum { TRIES = 4 };

struct made {
    struct list link;
    int fd; /* locked; -1: a directory */
    char path[];
};

const char *tool_files_dir(const char *given, const char *variable)
{
    const char *const names[] = { variable, "TMPDIR" };

    if (given && *given)
        return given;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *dir = secure_getenv(names[i]);
        if (dir && dir[0] == '/')
            return dir;
    }
    return "/tmp";
}

void tool_files_init(struct tool_file_list *c)
{
    list_init(&c->files);
}

/* Takes over the descriptor and its lock. */
static void note(struct tool_file_list *c, const char *path, int fd)
{
    struct made *m = calloc(1, sizeof *m + strlen(path) + 1);

    if (!m) {
        if (fd >= 0)
            close(fd);
        return;
    }
    m->fd = fd;
    memcpy(m->path, path, strlen(path) + 1);
    list_prepend(&c->files, &m->link);
}

void tool_files_remove(struct tool_file_list *c)
{
    LIST_EACH(l, &c->files)
    {
        struct made *m = LIST_OF(l, struct made, link);
        if (m->fd < 0)
            rmdir(m->path); /* stays while another server of ours uses it */
        else
            unlink(m->path);
        if (m->fd >= 0)
            close(m->fd);
        list_unlink(l);
        free(m);
    }
}

/* ---- stale files ----------------------------------------------------------------------------- */

/* The process named in the third line of a rendezvous file still exists. */
static bool writer_lives(int fd)
{
    char text[1024];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    struct slice rest = slice_mem(text, n > 0 ? (size_t)n : 0), line = SLICE_NULL;
    uint32_t pid;

    for (int i = 0; i < 3; i++)
        line = slice_cut(&rest, '\n');
    return !slice_u32(line, &pid) || pid == 0 || kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

/* A launcher or DVM wrote it, or daemon: others give their servers other names. */
static bool is_launchers(int fd)
{
    static const char name[] = "wireup-";
    char text[sizeof name - 1];

    return pread(fd, text, sizeof text, 0) == (ssize_t)sizeof text &&
           !memcmp(text, name, sizeof text);
}

/* Which files that nobody has locked are left. */
enum whose {
    WHOSE_ALL,     /* where only we write */
    WHOSE_GONE,    /* other libraries do not lock theirs: the process must be gone */
    WHOSE_LAUNCHER /* it may be gone or in another container: only those of launchers count */
};

static bool is_left(int fd, enum whose whose)
{
    switch (whose) {
    case WHOSE_GONE: return !writer_lives(fd);
    case WHOSE_LAUNCHER: return is_launchers(fd);
    case WHOSE_ALL: break;
    }
    return true;
}

/* The file that was checked is the one that is removed: it is locked, and still has its name. */
static bool remove_left(const char *path, enum whose whose)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st, now;
    bool left;

    if (fd < 0)
        return false;
    left = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           flock(fd, LOCK_EX | LOCK_NB) == 0 && is_left(fd, whose) && lstat(path, &now) == 0 &&
           now.st_ino == st.st_ino && now.st_dev == st.st_dev && unlink(path) == 0;
    close(fd);
    return left;
}

/* Those whose names begin so. */
static void clear_dir(const char *dir, const char *begin, enum whose whose)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    char path[4096];

    while (d && (e = readdir(d))) {
        if (!strncmp(e->d_name, begin, strlen(begin)) &&
            (size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < sizeof path)
            remove_left(path, whose);
    }
    if (d)
        closedir(d);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Locked before another process can take it for a stale one; -1 with errno. */
static int create(const char *path)
{
    struct stat st;

    for (int i = 0; i < TRIES; i++) {
        int fd = create_new(path);
        if (fd < 0) {
            errno = -fd;
            return -1;
        }
        if (flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
            return fd;
        close(fd);
    }
    errno = EAGAIN;
    return -1;
}

/* Gives the file its name, if the present file of that name is stale. */
static bool give_name(const char *temporary, const char *path)
{
    for (int i = 0; i < TRIES; i++) {
        int rc = create_name(temporary, path);
        if (rc == 0)
            return true;
        if (rc != -EEXIST || !remove_left(path, WHOSE_GONE))
            break;
    }
    return false;
}

static int put_bytes(int fd, const char *text)
{
    size_t len = strlen(text);

    return write(fd, text, len) == (ssize_t)len ? 0 : -EIO;
}

static void describe(const struct tool_file *what, char *text, size_t room)
{
    time_t now = time(NULL);
    char when[32];

    snprintf(text, room, "%s\n%s\n%ld\n%lu:%lu\n%s\n", what->uri, "5.0.3", (long)getpid(),
             (unsigned long)geteuid(), (unsigned long)getegid(), ctime_r(&now, when));
}

static int cannot(struct errmsg *err, int rc, const char *path)
{
    return errmsg_set(err, rc, "cannot write %.400s: %s", path, err_text(rc));
}

/* Complete before it has its name: readers see all of it, or nothing. */
int tool_files_put(struct tool_file_list *c, const struct tool_file *what, const char *path,
                   struct errmsg *err)
{
    char text[1024], temporary[TOOL_FILES_PATH_MAX];
    int fd, rc;

    describe(what, text, sizeof text);
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%ld.new", path, (long)getpid()) >=
        sizeof temporary)
        return cannot(err, -ENAMETOOLONG, path);
    fd = create(temporary);
    if (fd < 0)
        return cannot(err, -errno, path);
    rc = put_bytes(fd, text);
    if (rc == 0 && !give_name(temporary, path))
        rc = -EEXIST;
    if (rc == 0)
        note(c, path, fd);
    else
        close(fd);
    unlink(temporary);
    return rc == 0 ? 0 : cannot(err, rc, path);
}

int tool_files_put_text(struct tool_file_list *c, const char *path, const char *text,
                        struct errmsg *err)
{
    int fd = create(path);
    int rc = fd < 0 ? -errno : put_bytes(fd, text);

    if (rc == 0)
        note(c, path, fd);
    else if (fd >= 0)
        close(fd);
    return rc == 0 ? 0 : cannot(err, rc, path);
}

int tool_files_put_tool(struct tool_file_list *c, const struct tool_file *what, const char *dir,
                        const char *which, struct errmsg *err)
{
    char path[TOOL_FILES_PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/pmix.%.255s.tool%s%.255s", dir, what->hostname,
                         *which ? "." : "", which) >= sizeof path)
        return cannot(err, -ENAMETOOLONG, dir);
    return tool_files_put(c, what, path, err);
}

int tool_files_put_role(struct tool_file_list *c, const struct tool_file *what, const char *dir,
                        const char *role, struct errmsg *err)
{
    char path[TOOL_FILES_PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/pmix.%s.%.255s", dir, role, what->hostname) >=
        sizeof path)
        return cannot(err, -ENAMETOOLONG, dir);
    return tool_files_put(c, what, path, err);
}

/* ---- the directory --------------------------------------------------------------------------- */

static bool name_dir(const char *tmpdir, char *dir)
{
    return snprintf(dir, TOOL_FILES_PATH_MAX, "%s/wireup-pmix-%lu", tmpdir,
                    (unsigned long)geteuid()) < TOOL_FILES_PATH_MAX;
}

/* A directory that is ours alone, or an error. */
static int make_dir(const char *dir, struct errmsg *err)
{
    int rc = create_private(dir);

    if (rc == 0)
        return 0;
    if (rc != -EACCES || access(dir, F_OK) < 0)
        return cannot(err, rc, dir);
    return errmsg_set(err, -EACCES,
                      "tools cannot find this server: %.400s is not a private directory of ours",
                      dir);
}

int tool_files_begin(struct tool_file_list *c, const struct tool_file *what, const char *tmpdir,
                     const char *which, char *dir, struct errmsg *err)
{
    int rc = name_dir(tmpdir, dir) ? -ENOENT : cannot(err, -ENAMETOOLONG, tmpdir);

    /* Another server of ours that ends at the same time may remove the directory. */
    for (int i = 0; rc == -ENOENT && i < TRIES; i++) {
        rc = make_dir(dir, err);
        if (rc < 0)
            return rc;
        note(c, dir, -1); /* removed last */
        rc = tool_files_put_tool(c, what, dir, which, err);
    }
    if (rc == 0)
        clear_dir(dir, "pmix.", WHOSE_ALL);
    return rc;
}

void tool_files_clear(const char *tmpdir)
{
    char dir[TOOL_FILES_PATH_MAX];

    clear_dir(tmpdir, "pmix.sys.", WHOSE_LAUNCHER);
    if (!name_dir(tmpdir, dir) || create_check_private(dir) < 0)
        return;
    clear_dir(dir, "pmix.", WHOSE_ALL);
    rmdir(dir);
}
