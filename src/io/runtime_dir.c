/* runtime_dir.c - see runtime_dir.h. */
#include "io/runtime_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/create.h"

#define NAME "wireup"

/* Checks that the directory is ours alone; closes the descriptor if it is not. */
static int check(int fd)
{
    struct stat st;
    int rc = fd < 0 ? -errno : 0;

    if (rc == 0 && fstat(fd, &st) < 0)
        rc = -errno;
    if (rc == 0 && (st.st_uid != geteuid() || (st.st_mode & 077)))
        rc = -EACCES;
    if (rc == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return rc;
}

static int open_inside(int at, const char *path)
{
    return check(openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

static int open_base(int i)
{
    const char *given = secure_getenv("XDG_RUNTIME_DIR");
    char path[40];

    if (i == 0)
        return given && given[0] == '/' ? open_inside(AT_FDCWD, given) : -ENOENT;
    snprintf(path, sizeof path, "/run/user/%u", (unsigned)geteuid());
    return open_inside(AT_FDCWD, path);
}

int runtime_dir_open(int i, bool make)
{
    int base = open_base(i), dir;

    if (base < 0)
        return base;
    dir = make ? create_private_at(base, NAME) : 0;
    if (dir == 0 || dir == -EEXIST)
        dir = open_inside(base, NAME);
    close(base);
    return dir;
}

void runtime_dir_leave(int dir)
{
    int up = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

    close(dir);
    if (up < 0)
        return;
    unlinkat(up, NAME, AT_REMOVEDIR); /* stays while others use it */
    close(up);
}
