/* server_files.c - files by which tools find a server.
 *
 * They are written only for a host that serves tools, under the names that OpenPMIx's tools look
 * for, into a directory that is ours alone: <tmpdir>/wireup-pmix-<uid>, made with mode 0700, or
 * refused when somebody else has made it.  Tools search below the directory that they know, so a
 * level more does not hide a file from them.  Only the two files that a tool opens by their full
 * name (system server, and what the host itself has named) stand where it expects them.  No link is
 * followed, nothing of others is overwritten, and all go with the server. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/pmix/server.h"

struct rfile {
    struct list link;
    bool is_dir;
    char path[];
};

static void note(struct pserver *s, const char *path, bool is_dir)
{
    struct rfile *f = calloc(1, sizeof *f + strlen(path) + 1);

    if (!f)
        return;
    f->is_dir = is_dir;
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

/* Complete before it has its name: readers see all of it or nothing. */
static void write_one(struct pserver *s, const char *path)
{
    char text[1024], temporary[4096];
    int fd;

    contact(s, text, sizeof text);
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid()) >=
        sizeof temporary)
        return;
    fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        log_warn(&s->log, "cannot write %s: %s", path, err_text(errno));
        return;
    }
    if (put_text(fd, text) == 0 && link(temporary, path) == 0)
        note(s, path, false);
    else
        log_warn(&s->log, "cannot write %s: it is there already, or the disk is full", path);
    unlink(temporary);
    close(fd);
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

static void write_in(struct pserver *s, const char *dir, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void write_in(struct pserver *s, const char *dir, const char *format, ...)
{
    char name[512], path[4096];
    va_list args;

    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path)
        write_one(s, path);
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
        file = open(where, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (file >= 0 && put_text(file, text) == 0)
            note(s, where, false);
        else
            log_warn(&s->log, "cannot write the server's address to %s: %s", where,
                     err_text(errno));
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
        write_one(s, o->launcher_file);
    if (s->is_system)
        write_in(s, s->system_tmpdir, "pmix.sys.%.255s", s->hostname);
    if (!s->serves_tools || !private_dir(s, s->tmpdir, dir, sizeof dir))
        return;
    note(s, dir, true);
    if (s->is_session)
        write_in(s, dir, "pmix.%.255s.tool", s->hostname);
    write_in(s, dir, "pmix.%.255s.tool.%ld", s->hostname, (long)getpid());
    write_in(s, dir, "pmix.%.200s.tool.%.255s", s->hostname, s->me.nspace);
}

void sfiles_remove(struct pserver *s)
{
    LIST_EACH(l, &s->files)
    {
        struct rfile *f = LIST_OF(l, struct rfile, link);
        if (f->is_dir)
            rmdir(f->path); /* stays while another server of ours uses it */
        else
            unlink(f->path);
        list_unlink(l);
        free(f);
    }
}
