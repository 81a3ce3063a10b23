/* server_files.c - files by which tools find a server.
 *
 * They are written only for a host that serves tools, under the names that OpenPMIx's tools look
 * for, into a directory that is ours alone: <tmpdir>/wireup-pmix-<uid>, made with mode 0700, or
 * refused when somebody else has made it.  Tools search below the directory that they know, so a
 * level more does not hide a file from them.  Only the two files that a tool opens by their full
 * name (system server, and what the host itself has named) stand where it expects them.  No link is
 * followed, nothing of others is overwritten, and all go with the server.
 *
 * Who is killed leaves its files.  A living server holds a lock (flock) on each of its own, which
 * the kernel takes away with it: so the next one to come can tell what is left from what is in use,
 * and removes it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/slice.h"
#include "lib/pmix/server.h"

enum { TRIES = 4 };

struct rfile {
    struct list link;
    int fd; /* locked; -1: a directory */
    char path[];
};

/* Takes the descriptor over, and the lock with it. */
static void note(struct pserver *s, const char *path, int fd)
{
    struct rfile *f = calloc(1, sizeof *f + strlen(path) + 1);

    if (!f) {
        if (fd >= 0)
            close(fd);
        return;
    }
    f->fd = fd;
    memcpy(f->path, path, strlen(path) + 1);
    list_prepend(&s->files, &f->link);
}

static int put_text(int fd, const char *text)
{
    size_t len = strlen(text);

    return write(fd, text, len) == (ssize_t)len ? 0 : -EIO;
}

static void contact(const struct pserver *s, char *text, size_t room)
{
    time_t now = time(NULL);
    char when[32];

    snprintf(text, room, "%s\n%s\n%ld\n%lu:%lu\n%s\n", s->uri, "5.0.3", (long)getpid(),
             (unsigned long)geteuid(), (unsigned long)getegid(), ctime_r(&now, when));
}

/* ---- what others have left --------------------------------------------------------------------
 */

/* The third line of a contact file. */
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

/* A file that nobody holds.  Others' libraries hold none of theirs: there the process must be gone
 * (`foreign`).  What has been looked at is what is removed: it is locked, and still has its name.
 */
static bool remove_left(const char *path, bool foreign)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st, now;
    bool left;

    if (fd < 0)
        return false;
    left = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
           flock(fd, LOCK_EX | LOCK_NB) == 0 && !(foreign && writer_lives(fd)) &&
           lstat(path, &now) == 0 && now.st_ino == st.st_ino && now.st_dev == st.st_dev &&
           unlink(path) == 0;
    close(fd);
    return left;
}

static void clear_dir(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *e;
    char path[4096];

    while (d && (e = readdir(d))) {
        if (!strncmp(e->d_name, "pmix.", 5) &&
            (size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) < sizeof path)
            remove_left(path, false);
    }
    if (d)
        closedir(d);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

/* Locked before anybody can take it for one that was left; -1 with errno. */
static int create(const char *path)
{
    struct stat st;

    for (int i = 0; i < TRIES; i++) {
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
            return fd;
        close(fd);
    }
    errno = EAGAIN;
    return -1;
}

/* Its name, once what stood there under it is known to be left over. */
static bool give_name(const char *temporary, const char *path)
{
    for (int i = 0; i < TRIES; i++) {
        if (link(temporary, path) == 0)
            return true;
        if (errno != EEXIST || !remove_left(path, true))
            break;
    }
    return false;
}

/* Complete before it has its name: readers see all of it or nothing.  0 or -errno. */
static int write_one(struct pserver *s, const char *path)
{
    char text[1024], temporary[4096];
    int fd, rc;

    contact(s, text, sizeof text);
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%ld.new", path, (long)getpid()) >=
        sizeof temporary)
        return -ENAMETOOLONG;
    fd = create(temporary);
    if (fd < 0)
        return -errno;
    rc = put_text(fd, text);
    if (rc == 0 && !give_name(temporary, path))
        rc = -EEXIST;
    if (rc == 0)
        note(s, path, fd);
    else
        close(fd);
    unlink(temporary);
    return rc;
}

static int try_one(struct pserver *s, const char *path)
{
    int rc = write_one(s, path);

    if (rc < 0)
        log_warn(&s->log, "cannot write %s: %s", path, err_text(rc));
    return rc;
}

/* Ours alone, or none. */
static bool private_dir(struct pserver *s, const char *tmpdir, char *path, size_t room)
{
    struct stat st;

    if ((size_t)snprintf(path, room, "%s/wireup-pmix-%lu", tmpdir, (unsigned long)geteuid()) >=
        room)
        return false;
    if (mkdir(path, 0700) == 0)
        return true;
    if (errno == EEXIST && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
        (st.st_mode & 077) == 0)
        return true;
    log_warn(&s->log, "tools cannot find this server: %s is not a private directory of ours", path);
    return false;
}

static int write_in(struct pserver *s, const char *dir, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int write_in(struct pserver *s, const char *dir, const char *format, ...)
{
    char name[512], path[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
        return -ENAMETOOLONG;
    return try_one(s, path);
}

/* A file of the host's choice, a descriptor, or one of our own streams. */
static void report(struct pserver *s, const char *where)
{
    char text[PMIX_MAX_NSLEN + 96], *end;
    long fd = strtol(where, &end, 10);
    int file;

    snprintf(text, sizeof text, "%s\nv5.0.3\n", s->uri);
    if (!strcmp(where, "-") || !strcmp(where, "+")) {
        put_text(*where == '-' ? STDOUT_FILENO : STDERR_FILENO, text);
    } else if (!*end && fd >= 0) {
        put_text((int)fd, text);
        close((int)fd);
    } else {
        file = create(where);
        if (file >= 0 && put_text(file, text) == 0) {
            note(s, where, file);
            return;
        }
        log_warn(&s->log, "cannot write the server's address to %s: %s", where, err_text(errno));
        if (file >= 0)
            close(file);
    }
}

void sfiles_write(struct pserver *s, const struct pserver_options *o)
{
    char dir[4096];

    if (o->report)
        report(s, o->report);
    if (o->launcher_file)
        try_one(s, o->launcher_file);
    if (s->is_system)
        write_in(s, s->system_tmpdir, "pmix.sys.%.255s", s->hostname);
    if (!s->serves_tools)
        return;
    /* Another server of ours that ends just now may take the directory with it. */
    for (int i = 0; i < TRIES && private_dir(s, s->tmpdir, dir, sizeof dir); i++) {
        note(s, dir, -1); /* the last to go */
        if (write_in(s, dir, "pmix.%.255s.tool.%ld", s->hostname, (long)getpid()) == -ENOENT)
            continue;
        clear_dir(dir);
        if (s->is_session)
            write_in(s, dir, "pmix.%.255s.tool", s->hostname);
        write_in(s, dir, "pmix.%.200s.tool.%.255s", s->hostname, s->me.nspace);
        return;
    }
}

void sfiles_remove(struct pserver *s)
{
    LIST_EACH(l, &s->files)
    {
        struct rfile *f = LIST_OF(l, struct rfile, link);
        if (f->fd < 0)
            rmdir(f->path); /* stays while another server of ours uses it */
        else
            unlink(f->path);
        if (f->fd >= 0)
            close(f->fd);
        list_unlink(l);
        free(f);
    }
}
