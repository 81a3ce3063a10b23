/* inherited_fds.c - see inherited_fds.h. */
#include "io/inherited_fds.h"

#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/slice.h"

static void note(struct inherited_fds *f, int fd)
{
    int *more = realloc(f->fds, (f->n + 1) * sizeof *more);

    if (!more)
        return;
    f->fds = more;
    f->fds[f->n++] = fd;
}

void inherited_fds_note(struct inherited_fds *f)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *e;
    uint32_t fd;

    while (dir && (e = readdir(dir))) {
        if (slice_u32(slice_str(e->d_name), &fd) && fd > 2 && (int)fd != dirfd(dir))
            note(f, (int)fd);
    }
    if (dir)
        closedir(dir);
}

void inherited_fds_close(struct inherited_fds *f)
{
    for (size_t i = 0; i < f->n; i++)
        close(f->fds[i]);
    free(f->fds);
    *f = (struct inherited_fds){ NULL, 0 };
}
