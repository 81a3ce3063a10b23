/* rendezvous.c - see rendezvous.h. */
#include "io/rendezvous.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/peer_cred.h"

/* Containers often share the network, and this name space with it, but count pids each from 1. */
static unsigned long long pids_world(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

static int put_prefix(char *room, size_t size)
{
    return snprintf(room, size, "wireup/%u/%llu/", (unsigned)getuid(), pids_world());
}

static socklen_t address(pid_t pid, struct sockaddr_un *at)
{
    char *name = at->sun_path + 1;
    size_t room = sizeof at->sun_path - 1;
    int n;

    memset(at, 0, sizeof *at);
    at->sun_family = AF_UNIX;
    n = put_prefix(name, room);
    n += snprintf(name + n, room - (size_t)n, "%d", (int)pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int give_up(int fd)
{
    int rc = -errno;

    close(fd);
    return rc;
}

int rendezvous_listen(void)
{
    struct sockaddr_un at;
    socklen_t len = address(getpid(), &at);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&at, len) < 0 || listen(fd, 64) < 0)
        return give_up(fd);
    return fd;
}

static bool is_ours(int fd)
{
    struct peer_cred who;

    return peer_cred_read(fd, &who) == 0 && who.uid == getuid();
}

int rendezvous_accept(int listener)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return -errno;
        if (is_ours(fd))
            return fd;
        close(fd);
    }
}

/* The pid in a line of /proc/net/unix about a listening socket of ours, or 0. */
static pid_t pid_in_line(const char *line, const char *prefix)
{
    unsigned long flags;
    const char *name = strchr(line, '@');
    char *end;
    long pid;

    if (!name || strncmp(name + 1, prefix, strlen(prefix)) != 0 ||
        sscanf(line, "%*s %*s %*s %lx", &flags) != 1 || !(flags & 0x10000))
        return 0;
    pid = strtol(name + 1 + strlen(prefix), &end, 10);
    return *end == '\n' && pid > 0 ? (pid_t)pid : 0;
}

int rendezvous_list(pid_t *pids, int room)
{
    char line[256], prefix[64];
    int n = 0;
    FILE *f = fopen("/proc/net/unix", "re");

    if (!f)
        return -errno;
    put_prefix(prefix, sizeof prefix);
    while (fgets(line, sizeof line, f)) {
        pid_t pid = pid_in_line(line, prefix);
        if (pid == 0 || pid == getpid())
            continue;
        if (n < room)
            pids[n] = pid;
        n++;
    }
    fclose(f);
    return n;
}

int rendezvous_connect(pid_t pid)
{
    struct sockaddr_un at;
    socklen_t len = address(pid, &at);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&at, len) < 0)
        return give_up(fd);
    if (is_ours(fd))
        return fd;
    close(fd);
    return -EACCES;
}
