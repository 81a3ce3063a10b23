/* rendezvous.c - see rendezvous.h.  A launcher has one name, "NAMESPACE.PID.RANDOM" in a directory
 * or "wireup/UID/NAMESPACE.PID.RANDOM" in the abstract namespace, and perhaps an alias,
 * "NAMESPACE.ALIAS", which begins with a letter.  Nothing is remembered between
 * two searches, because only a launcher that answers by its name is known to exist.
 */
#include "io/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/create.h"
#include "io/peer_cred.h"
#include "io/procstat.h"
#include "io/runtime_dir.h"
#include "io/socket_names.h"

enum { BACKLOG = 64, TRIES = 4, BIRTH_S = 60, FOREIGN_LOOKS = 16 };

/* Containers often share the network or a directory, but each numbers its pids from 1. */
static unsigned long long pids_world(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

static int give_up(int fd)
{
    int rc = -errno;

    close(fd);
    return rc;
}

static int new_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    return fd < 0 ? -errno : fd;
}

/* ---- names ---- */

static void make_name(char name[RENDEZVOUS_NAME])
{
    uint32_t chance = 0;

    if (getrandom(&chance, sizeof chance, GRND_NONBLOCK) < 0)
        chance = (uint32_t)time(NULL);
    snprintf(name, RENDEZVOUS_NAME, "%llu.%d.%08x", pids_world(), (int)getpid(), chance);
}

struct parsed {
    unsigned long long world;
    pid_t pid;
};

static bool read_name(const char *name, struct parsed *p)
{
    char again[RENDEZVOUS_NAME];
    unsigned chance;
    int pid;

    if (sscanf(name, "%20llu.%10d.%8x", &p->world, &pid, &chance) != 3 || pid <= 0)
        return false;
    p->pid = pid;
    snprintf(again, sizeof again, "%llu.%d.%08x", p->world, pid, chance);
    return strcmp(name, again) == 0;
}

/* The directory is named by its descriptor: its path may be too long for a socket address. */
static socklen_t address_in(int dir, const char *name, struct sockaddr_un *at)
{
    *at = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(at->sun_path, sizeof at->sun_path, "/proc/self/fd/%d/%s", dir, name);
    return sizeof *at;
}

static int put_prefix(char *text, size_t room)
{
    return snprintf(text, room, "wireup/%u/", (unsigned)geteuid());
}

static socklen_t abstract_address(const char *name, struct sockaddr_un *at)
{
    char *to = at->sun_path + 1;
    size_t room = sizeof at->sun_path - 1;
    int n;

    *at = (struct sockaddr_un){ .sun_family = AF_UNIX };
    n = put_prefix(to, room);
    n += snprintf(to + n, room - (size_t)n, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* ---- listening ---- */

static int listen_at(const struct sockaddr_un *at, socklen_t len)
{
    int fd = new_socket();

    if (fd < 0)
        return fd;
    if (bind(fd, (const struct sockaddr *)at, len) < 0 || listen(fd, BACKLOG) < 0)
        return give_up(fd);
    return fd;
}

/* Under a name that others ignore until the socket can be connected to. */
static int listen_in(int dir, const char *name)
{
    char early[RENDEZVOUS_NAME + 1];
    struct sockaddr_un at;
    int fd;

    snprintf(early, sizeof early, ".%s", name);
    fd = listen_at(&at, address_in(dir, early, &at));
    if (fd < 0)
        return fd;
    if (renameat(dir, early, dir, name) == 0)
        return fd;
    unlinkat(dir, early, 0);
    return give_up(fd);
}

/* Another launcher that ends at the same time may remove the directory. */
static int open_in_dir(struct rendezvous *r, int which)
{
    int dir = -ENOENT;

    for (int i = 0; i < TRIES; i++) {
        dir = runtime_dir_open(which, true);
        if (dir < 0)
            return dir;
        r->fd = listen_in(dir, r->name);
        if (r->fd >= 0) {
            r->dir = dir;
            return 0;
        }
        runtime_dir_leave(dir);
        if (r->fd != -ENOENT)
            break;
    }
    return r->fd;
}

int rendezvous_open(struct rendezvous *r)
{
    struct sockaddr_un at;

    *r = RENDEZVOUS_CLOSED;
    make_name(r->name);
    for (int i = 0; i < RUNTIME_DIRS; i++) {
        if (open_in_dir(r, i) == 0)
            return 0;
    }
    r->fd = listen_at(&at, abstract_address(r->name, &at));
    return r->fd < 0 ? r->fd : 0;
}

/* ---- aliases ---- */

/* Where the kernel has no pidfds. */
static bool has_ended_by_stat(pid_t pid)
{
    struct procstat st;

    if (kill(pid, 0) < 0)
        return errno == ESRCH;
    return procstat_read(pid, &st) == 0 && (st.state == 'Z' || st.state == 'X');
}

/* One that has ended and was not waited for has no socket any more.  (A file in /proc takes ten
 * times as long.) */
static bool has_ended(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd p = { fd, POLLIN, 0 };
    bool ended;

    if (fd < 0)
        return errno == ESRCH || has_ended_by_stat(pid);
    ended = poll(&p, 1, 0) > 0;
    close(fd);
    return ended;
}

static void put_alias(char file[RENDEZVOUS_ALIAS], const char *alias)
{
    snprintf(file, RENDEZVOUS_ALIAS, "%llu.%s", pids_world(), alias);
}

/* Whose alias it is, if it is one. */
static bool read_alias(int dir, const char *file, char name[RENDEZVOUS_NAME], struct parsed *p)
{
    ssize_t n = readlinkat(dir, file, name, RENDEZVOUS_NAME);

    if (n <= 0 || n == RENDEZVOUS_NAME)
        return false;
    name[n] = '\0';
    return read_name(name, p);
}

/* Who was killed has left it. */
static bool alias_is_left(int dir, const char *file)
{
    char name[RENDEZVOUS_NAME];
    struct parsed p;
    struct stat st;

    if (!read_alias(dir, file, name, &p))
        return false;
    return (p.world == pids_world() && has_ended(p.pid)) ||
           fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0;
}

int rendezvous_set_alias(struct rendezvous *r, const char *alias)
{
    int rc;

    if (r->dir < 0)
        return -ENOENT;
    put_alias(r->alias, alias);
    rc = create_link_at(r->dir, r->alias, r->name);
    if (rc == -EEXIST && alias_is_left(r->dir, r->alias)) {
        unlinkat(r->dir, r->alias, 0);
        rc = create_link_at(r->dir, r->alias, r->name);
    }
    if (rc < 0)
        r->alias[0] = '\0';
    return rc;
}

static void drop_alias(const struct rendezvous *r)
{
    char name[RENDEZVOUS_NAME];
    struct parsed p;

    if (r->alias[0] && read_alias(r->dir, r->alias, name, &p) && !strcmp(name, r->name))
        unlinkat(r->dir, r->alias, 0);
}

static bool find_alias_in(int which, const char *file, struct launcher_name *l)
{
    int dir = runtime_dir_open(which, false);
    struct parsed p;
    bool found;

    if (dir < 0)
        return false;
    found = read_alias(dir, file, l->name, &p) && p.pid != getpid();
    close(dir);
    if (found) {
        l->pid = p.pid;
        l->where = which;
    }
    return found;
}

int rendezvous_find_alias(const char *alias, struct launcher_name *l)
{
    char file[RENDEZVOUS_ALIAS];

    put_alias(file, alias);
    for (int i = 0; i < RUNTIME_DIRS; i++) {
        if (find_alias_in(i, file, l))
            return 0;
    }
    return -ENOENT;
}

/* ---- closing ---- */

void rendezvous_close(struct rendezvous *r)
{
    if (r->dir >= 0) {
        drop_alias(r);
        unlinkat(r->dir, r->name, 0);
        runtime_dir_leave(r->dir);
    }
    if (r->watch >= 0)
        close(r->watch);
    if (r->fd >= 0)
        close(r->fd);
    *r = RENDEZVOUS_CLOSED;
}

/* The socket, not its directory: nobody is woken by the names of others.  Removing its name changes
 * its number of links. */
int rendezvous_watch(struct rendezvous *r)
{
    char path[40 + RENDEZVOUS_NAME];

    if (r->dir < 0 || r->watch >= 0)
        return 0;
    r->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (r->watch < 0)
        return -errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", r->dir, r->name);
    if (inotify_add_watch(r->watch, path, IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF) < 0 &&
        errno != ENOENT) {
        int rc = give_up(r->watch);
        r->watch = -1;
        return rc;
    }
    return 0;
}

bool rendezvous_is_lost(struct rendezvous *r)
{
    char news[4096];
    struct stat st;

    while (read(r->watch, news, sizeof news) > 0) {
        /* only their presence matters */
    }
    return r->dir >= 0 && fstatat(r->dir, r->name, &st, AT_SYMLINK_NOFOLLOW) < 0;
}

bool rendezvous_is_ours(int fd)
{
    return peer_cred_is_process(fd, geteuid(), 0);
}

/* ---- searching all names ---- */

/* A name found in the search. */
struct sight {
    int where, dir; /* the number and the descriptor of its directory; -1: an abstract name */
    const char *name;
    bool early; /* it cannot be connected to yet */
    struct parsed parsed;
};

/* Returning false ends the search. */
typedef bool sight_fn(void *arg, const struct sight *s);

struct look {
    sight_fn *fn;
    void *arg;
    size_t prefix;
    bool tidies; /* aliases that were left are removed */
    bool over;
};

static void look_in(struct look *l, int where, int dir)
{
    DIR *d = fdopendir(fcntl(dir, F_DUPFD_CLOEXEC, 3));
    struct sight s = { .where = where, .dir = dir };
    const struct dirent *e;

    if (!d)
        return;
    rewinddir(d);
    while (!l->over && (e = readdir(d))) {
        s.name = e->d_name;
        s.early = s.name[0] == '.';
        if (read_name(s.name + s.early, &s.parsed))
            l->over = !l->fn(l->arg, &s);
        else if (l->tidies && !s.early && alias_is_left(dir, s.name))
            unlinkat(dir, s.name, 0);
    }
    closedir(d);
}

static void look_in_dirs(struct look *l)
{
    for (int i = 0; i < RUNTIME_DIRS && !l->over; i++) {
        int dir = runtime_dir_open(i, false);
        if (dir < 0)
            continue;
        look_in(l, i, dir);
        if (l->tidies)
            runtime_dir_leave(dir);
        else
            close(dir);
    }
}

static bool look_at_abstract(void *arg, struct slice full, bool known)
{
    struct look *l = arg;
    struct slice text = slice_skip(full, l->prefix);
    char name[RENDEZVOUS_NAME];
    struct sight s = { .where = -1, .dir = -1, .name = name };

    if (text.len >= sizeof name)
        return true;
    memcpy(name, text.ptr, text.len);
    name[text.len] = '\0';
    if (read_name(name, &s.parsed) && (known || kill(s.parsed.pid, 0) == 0))
        l->over = !l->fn(l->arg, &s);
    return !l->over;
}

/* ---- listing ---- */

struct found {
    unsigned long long world;
    struct launcher_name *list;
    unsigned n, room;
    bool no_memory;
};

static bool has_pid(const struct found *f, pid_t pid)
{
    for (unsigned i = 0; i < f->n; i++) {
        if (f->list[i].pid == pid)
            return true;
    }
    return false;
}

static bool add(void *arg, const struct sight *s)
{
    struct found *f = arg;
    struct launcher_name *l;
    pid_t pid = s->parsed.pid;

    if (s->early || s->parsed.world != f->world || pid == getpid() || has_pid(f, pid))
        return true;
    if (f->n == f->room) {
        unsigned room = f->room ? f->room * 2 : 32;
        l = realloc(f->list, room * sizeof *l);
        f->no_memory = !l;
        if (!l)
            return false;
        f->list = l;
        f->room = room;
    }
    l = &f->list[f->n++];
    *l = (struct launcher_name){ .pid = pid, .where = s->where };
    snprintf(l->name, sizeof l->name, "%s", s->name);
    return f->n < LIMIT_LAUNCHERS;
}

struct rendezvous_search {
    struct found found;
    struct look look;
    struct socket_names names;
    char prefix[40];
};

static struct rendezvous_search *search_new(void)
{
    struct rendezvous_search *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->found.world = pids_world();
    s->look = (struct look){ .fn = add, .arg = &s->found };
    s->look.prefix = (size_t)put_prefix(s->prefix, sizeof s->prefix);
    s->names = SOCKET_NAMES_CLOSED;
    return s;
}

struct rendezvous_search *rendezvous_search_begin(void)
{
    struct rendezvous_search *s = search_new();

    if (!s)
        return NULL;
    rendezvous_tidy();
    look_in_dirs(&s->look);
    if (!s->look.over)
        socket_names_open(&s->names, slice_str(s->prefix), look_at_abstract, &s->look);
    return s;
}

bool rendezvous_search_more(struct rendezvous_search *s)
{
    return !s->look.over && socket_names_more(&s->names);
}

int rendezvous_search_end(struct rendezvous_search *s, struct launcher_name **list_p)
{
    struct found f = s->found;

    socket_names_close(&s->names);
    free(s);
    *list_p = f.no_memory ? NULL : f.list;
    if (!f.no_memory)
        return (int)f.n;
    free(f.list);
    return -ENOMEM;
}

int rendezvous_list_in_dirs(struct launcher_name **list_p)
{
    struct rendezvous_search *s = search_new();

    *list_p = NULL;
    if (!s)
        return -ENOMEM;
    look_in_dirs(&s->look);
    return rendezvous_search_end(s, list_p);
}

int rendezvous_list(struct launcher_name **list_p)
{
    struct rendezvous_search *s = rendezvous_search_begin();

    *list_p = NULL;
    if (!s)
        return -ENOMEM;
    while (rendezvous_search_more(s))
        continue;
    return rendezvous_search_end(s, list_p);
}

/* ---- connecting ---- */

static int connect_to(int dir, const char *name)
{
    struct sockaddr_un at;
    socklen_t len = dir < 0 ? abstract_address(name, &at) : address_in(dir, name, &at);
    int fd = new_socket();

    if (fd < 0)
        return fd;
    return connect(fd, (struct sockaddr *)&at, len) < 0 ? give_up(fd) : fd;
}

static int connect_in_dir(const struct launcher_name *l)
{
    int dir = runtime_dir_open(l->where, false), fd;

    if (dir < 0)
        return -ECONNREFUSED;
    fd = connect_to(dir, l->name);
    if (fd == -ECONNREFUSED) {
        unlinkat(dir, l->name, 0);
        runtime_dir_leave(dir);
    } else {
        close(dir);
    }
    return fd == -ENOENT ? -ECONNREFUSED : fd;
}

int rendezvous_connect(const struct launcher_name *l)
{
    int fd = l->where < 0 ? connect_to(-1, l->name) : connect_in_dir(l);

    /* (Another pid namespace may have another process with that pid.) */
    if (fd < 0 || peer_cred_is_process(fd, geteuid(), l->pid))
        return fd;
    close(fd);
    return -EACCES;
}

/* ---- connecting to one pid ---- */

struct wanted {
    unsigned long long world;
    pid_t pid;
    int fd; /* or -errno */
};

/* A name may be left from a killed launcher whose pid was given to another one. */
static bool try_connect(void *arg, const struct sight *s)
{
    struct wanted *w = arg;
    struct launcher_name l = { .pid = w->pid, .where = s->where };

    if (s->early || s->parsed.world != w->world || s->parsed.pid != w->pid)
        return true;
    snprintf(l.name, sizeof l.name, "%s", s->name);
    w->fd = rendezvous_connect(&l);
    return w->fd == -ECONNREFUSED || w->fd == -EACCES;
}

static void look_at_all_abstract(struct look *l)
{
    struct socket_names names = SOCKET_NAMES_CLOSED;
    char prefix[40];

    l->prefix = (size_t)put_prefix(prefix, sizeof prefix);
    if (socket_names_open(&names, slice_str(prefix), look_at_abstract, l) == 0) {
        while (!l->over && socket_names_more(&names))
            continue;
    }
    socket_names_close(&names);
}

int rendezvous_connect_pid(pid_t pid)
{
    struct wanted w = { pids_world(), pid, -ESRCH };
    struct look l = { .fn = try_connect, .arg = &w };

    look_in_dirs(&l);
    if (!l.over)
        look_at_all_abstract(&l);
    return w.fd == -ECONNREFUSED || w.fd == -EACCES ? -ESRCH : w.fd;
}

/* ---- tidying ---- */

struct tidying {
    unsigned long long world; /* 0: not asked for yet; mostly there is no name at all */
    unsigned looks;           /* lookups of other pid namespaces, whose processes we cannot see */
};

/* It cannot be connected to yet; it has that name for a moment only, unless its launcher was killed
 * in it. */
static bool is_stillborn(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ctime + BIRTH_S < time(NULL);
}

/* Without a process to look at, it is asked. */
static bool refuses(struct tidying *t, const struct sight *s)
{
    int fd;

    if (t->looks == 0)
        return false;
    t->looks--;
    fd = connect_to(s->dir, s->name);
    if (fd >= 0)
        close(fd);
    return fd == -ECONNREFUSED;
}

static bool is_gone(struct tidying *t, const struct sight *s)
{
    if (!t->world)
        t->world = pids_world();
    if (s->parsed.world == t->world && has_ended(s->parsed.pid))
        return true;
    if (s->early)
        return is_stillborn(s->dir, s->name);
    return s->parsed.world != t->world && refuses(t, s);
}

static bool remove_gone(void *arg, const struct sight *s)
{
    if (is_gone(arg, s))
        unlinkat(s->dir, s->name, 0);
    return true;
}

void rendezvous_tidy(void)
{
    struct tidying t = { 0, FOREIGN_LOOKS };
    struct look l = { .fn = remove_gone, .arg = &t, .tidies = true };

    look_in_dirs(&l);
}
