/* socket_owner.c - see socket_owner.h. /proc lists the open descriptors of a process, and the
 * children of its threads.
 */
#include "io/socket_owner.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"

struct family {
    pid_t *pids;
    unsigned n, room;
};

static void add_member(struct family *f, pid_t pid)
{
    if (f->n == f->room) {
        unsigned room = f->room ? f->room * 2 : 64;
        pid_t *more = room <= LIMIT_DESCENDANTS ? realloc(f->pids, room * sizeof *more) : NULL;
        if (!more)
            return;
        f->pids = more;
        f->room = room;
    }
    f->pids[f->n++] = pid;
}

static void add_children_of_thread(struct family *f, pid_t pid, const char *thread)
{
    char path[64];
    FILE *file;
    int child;

    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, thread);
    file = fopen(path, "re");
    if (!file)
        return;
    while (fscanf(file, "%d", &child) == 1)
        add_member(f, child);
    fclose(file);
}

static void add_children(struct family *f, pid_t pid)
{
    char path[64];
    const struct dirent *e;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    dir = opendir(path);
    if (!dir)
        return;
    while ((e = readdir(dir))) {
        if (e->d_name[0] != '.')
            add_children_of_thread(f, pid, e->d_name);
    }
    closedir(dir);
}

/* Calls is() for what each open descriptor refers to, until it is true. */
static bool each_link(pid_t pid, bool (*is)(const void *arg, pid_t pid, int fd, const char *text),
                      const void *arg)
{
    char path[64], text[64];
    const struct dirent *e;
    bool found = false;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    if (!dir)
        return false;
    while (!found && (e = readdir(dir))) {
        ssize_t n =
            e->d_name[0] == '.' ? 0 : readlinkat(dirfd(dir), e->d_name, text, sizeof text - 1);
        if (n > 0) {
            text[n] = '\0';
            found = is(arg, pid, atoi(e->d_name), text);
        }
    }
    closedir(dir);
    return found;
}

static bool is_link(const void *link, pid_t pid, int fd, const char *text)
{
    (void)pid;
    (void)fd;
    return !strcmp(text, link);
}

static bool holds(const void *link, pid_t pid)
{
    return each_link(pid, is_link, link);
}

pid_t socket_owner_find(pid_t root, bool (*is)(const void *arg, pid_t pid), const void *arg)
{
    struct family f = { .n = 0 };
    pid_t found = 0;

    if (root <= 0)
        return 0;
    add_member(&f, root);
    for (unsigned i = 0; i < f.n && !found; i++) {
        if (is(arg, f.pids[i]))
            found = f.pids[i];
        else
            add_children(&f, f.pids[i]);
    }
    free(f.pids);
    return found;
}

static void name_link(char *link, size_t room, ino_t socket)
{
    snprintf(link, room, "socket:[%llu]", (unsigned long long)socket);
}

bool socket_owner_has(pid_t pid, ino_t socket)
{
    char link[64];

    name_link(link, sizeof link, socket);
    return socket && holds(link, pid);
}

pid_t socket_owner_below(pid_t root, ino_t socket)
{
    char link[64];

    name_link(link, sizeof link, socket);
    return socket ? socket_owner_find(root, holds, link) : 0;
}

static bool is_pid(const void *arg, pid_t pid)
{
    return pid == *(const pid_t *)arg;
}

pid_t socket_owner_of(pid_t root, const struct peer_cred *c)
{
    return c->pid ? socket_owner_find(root, is_pid, &c->pid) : socket_owner_below(root, c->socket);
}

bool socket_owner_is_below(pid_t root, ino_t socket)
{
    return socket_owner_below(root, socket) > 0;
}

bool socket_owner_has_at(pid_t pid, int fd, ino_t socket)
{
    char path[64], link[64], text[64];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    name_link(link, sizeof link, socket);
    n = readlink(path, text, sizeof text - 1);
    if (n > 0)
        text[n] = '\0';
    return socket && n > 0 && !strcmp(text, link);
}

static bool visit_link(const void *arg, pid_t pid, int fd, const char *text)
{
    const struct socket_visitor *v = arg;
    unsigned long long socket;

    return sscanf(text, "socket:[%llu]", &socket) == 1 && v->found(v->arg, pid, fd, (ino_t)socket);
}

/* The descendants that are entered, oldest first. */
static struct family family_below(const struct socket_visitor *v, pid_t root)
{
    struct family all = { .n = 0 }, f = { .n = 0 };

    add_children(&all, root);
    for (unsigned i = 0; i < all.n; i++) {
        if (!v->enters(v->arg, all.pids[i]))
            continue;
        add_member(&f, all.pids[i]);
        add_children(&all, all.pids[i]);
    }
    free(all.pids);
    return f;
}

static bool visit_below(const struct socket_visitor *v, pid_t root)
{
    struct family f = family_below(v, root);
    bool found = false;
    unsigned first = 0;

    for (unsigned i = 0; i < f.n; i++) {
        if (f.pids[i] == v->behind)
            first = i + 1;
    }
    for (unsigned i = 0; i < f.n && !found; i++)
        found = each_link(f.pids[(first + i) % f.n], visit_link, v);
    free(f.pids);
    return found;
}

bool socket_owner_visit(pid_t root, bool below, const struct socket_visitor *v)
{
    return root > 0 && (below ? visit_below(v, root) : each_link(root, visit_link, v));
}
