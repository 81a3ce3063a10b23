/* memfd.c - see memfd.h. */
#include "io/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/limit.h"
#include "store/memory.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { MEMFD_STEP = 1 << 16, MEMFD_SMALLEST = 1 << 24 };

static int grow(struct seg_region *r, uint64_t want, void *arg)
{
    struct memfd *s = arg;
    uint64_t size = r->size * 2;

    if (size < want)
        size = want;
    size = (size + MEMFD_STEP - 1) / MEMFD_STEP * MEMFD_STEP;
    if (size > r->max)
        size = r->max;
    if (ftruncate(s->fd, (off_t)size) < 0)
        return -errno;
    r->size = size;
    return 0;
}

static int map_all(struct memfd *s)
{
    uint64_t max = LIMIT_STORE_MAP;
    void *base = MAP_FAILED;

    for (; max >= MEMFD_SMALLEST && base == MAP_FAILED; max /= 2)
        base = mmap(NULL, max, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->fd, 0);
    if (base == MAP_FAILED)
        return -errno;
    madvise(base, max * 2, MADV_DONTDUMP); /* or a core file would contain all of the address
                                            * space */
    s->region =
        (struct seg_region){ .base = base, .size = 0, .max = max * 2, .grow = grow, .arg = s };
    return 0;
}

/* A second, read-only descriptor of the same file.  Without /proc the seal alone has to protect it.
 */
int memfd_reader(struct memfd *s)
{
    char path[40];

    if (s->reader_fd >= 0 || s->fd < 0)
        return s->reader_fd;
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    s->reader_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->reader_fd < 0)
        s->reader_fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);
    return s->reader_fd < 0 ? -errno : s->reader_fd;
}

int memfd_open(struct memfd *s)
{
    int rc;

    *s = MEMFD_NULL;
    s->fd = memfd_create("wireup-store", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->fd < 0)
        return -errno;
    rc = map_all(s);
    if (rc < 0) {
        memfd_close(s);
        return rc;
    }
    /* Kernels before 5.1 do not have FUTURE_WRITE; there the read-only descriptor protects. */
    if (fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_FUTURE_WRITE) < 0)
        fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK);
    return 0;
}

int memfd_open_private(struct memfd *s)
{
    uint64_t max = LIMIT_STORE_MAP;
    int rc = -ENOMEM;

    *s = MEMFD_NULL;
    for (; max >= MEMFD_SMALLEST && rc < 0; max /= 2)
        rc = seg_memory_open(max, &s->region);
    return rc;
}

void memfd_close(struct memfd *s)
{
    if (s->fd < 0)
        seg_memory_close(&s->region);
    else if (s->region.base)
        munmap(s->region.base, s->region.max);
    memfd_leave(s);
}

void memfd_leave(struct memfd *s)
{
    if (s->fd >= 0)
        close(s->fd);
    if (s->reader_fd >= 0)
        close(s->reader_fd);
    *s = MEMFD_NULL;
}
