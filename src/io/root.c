/* root.c - see root.h. */
#include "io/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "mnt:[4026531841]" */
static int space_of(const char *process, const char *kind, char *text, size_t room)
{
    char path[PATH_MAX];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%s/ns/%s", process, kind);
    n = readlink(path, text, room - 1);
    if (n < 0)
        return -errno;
    text[n] = '\0';
    return 0;
}

static int mounts_of(const char *process, char *text, size_t room)
{
    return space_of(process, "mnt", text, room);
}

bool root_shares_ipc(pid_t pid)
{
    char process[16], theirs[64], ours[64];

    snprintf(process, sizeof process, "%d", (int)pid);
    return space_of(process, "ipc", theirs, sizeof theirs) == 0 &&
           space_of("self", "ipc", ours, sizeof ours) == 0 && !strcmp(theirs, ours);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool root_is_same(pid_t a, pid_t b)
{
    const pid_t pids[2] = { a, b };
    char mounts[2][64], process[16], path[64];
    struct stat roots[2];

    for (int i = 0; i < 2; i++) {
        snprintf(process, sizeof process, "%d", (int)pids[i]);
        snprintf(path, sizeof path, "/proc/%s/root", process);
        if (mounts_of(process, mounts[i], sizeof mounts[i]) < 0 || stat(path, &roots[i]) < 0)
            return false;
    }
    return is_same(&roots[0], &roots[1]) && !strcmp(mounts[0], mounts[1]);
}

int root_of(pid_t pid, int *fd_p)
{
    char process[16], path[64], theirs[64], ours[64];
    struct stat there, here;
    int fd, rc;

    *fd_p = -1;
    snprintf(process, sizeof process, "%d", (int)pid);
    snprintf(path, sizeof path, "/proc/%s/root", process);
    rc = mounts_of(process, theirs, sizeof theirs);
    if (rc == 0)
        rc = mounts_of("self", ours, sizeof ours);
    if (rc < 0)
        return rc;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &there) < 0 || stat("/", &here) < 0) {
        rc = -errno;
        close(fd);
        return rc;
    }
    if (is_same(&there, &here) && !strcmp(theirs, ours)) {
        close(fd);
        return 0;
    }
    *fd_p = fd;
    return 1;
}
