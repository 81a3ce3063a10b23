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
static bool each_link(pid_t pid, bool (*is)(const void *arg, pid_t pid, const char *text),
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
        ssize_t n = readlinkat(dirfd(dir), e->d_name, text, sizeof text - 1);
        if (n > 0) {
            text[n] = '\0';
            found = is(arg, pid, text);
        }
    }
    closedir(dir);
    return found;
}

static bool is_link(const void *link, pid_t pid, const char *text)
{
    (void)pid;
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

struct socket_visit {
    void (*found)(void *arg, pid_t pid, ino_t socket);
    void *arg;
};

static bool visit_socket(const void *arg, pid_t pid, const char *text)
{
    const struct socket_visit *e = arg;
    unsigned long long socket;

    if (sscanf(text, "socket:[%llu]", &socket) == 1)
        e->found(e->arg, pid, (ino_t)socket);
    return false;
}

static bool visit_sockets(const void *arg, pid_t pid)
{
    return each_link(pid, visit_socket, arg);
}

void socket_owner_each(pid_t root, bool below, void (*found)(void *arg, pid_t pid, ino_t socket),
                       void *arg)
{
    const struct socket_visit e = { found, arg };

    if (below)
        socket_owner_find(root, visit_sockets, &e);
    else if (root > 0)
        visit_sockets(&e, root);
}
