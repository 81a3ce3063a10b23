/* procstat.c - see procstat.h. */
#include "io/procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int procstat_read(pid_t pid, struct procstat *st)
{
    char path[40], text[512], *end;
    ssize_t n;
    int fd, parent;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return -ESRCH;
    text[n] = '\0';
    end = strrchr(text, ')'); /* the name before it may contain anything */
    if (!end || sscanf(end + 1, " %c %d", &st->state, &parent) != 2)
        return -EINVAL;
    st->parent = (pid_t)parent;
    return 0;
}
