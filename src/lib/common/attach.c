/* attach.c - see attach.h. */
#include "lib/common/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"

/* Tries the most that the store may ever need first, then less, down to its present size. */
static void *map_window(int fd, uint64_t present, uint64_t *len_p)
{
    void *base;

    for (uint64_t len = LIMIT_STORE_MAP;; len /= 8) {
        if (len < present)
            len = present;
        base = mmap(NULL, len, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
        *len_p = len;
        if (base != MAP_FAILED) /* else a core file would contain all of it */
            madvise(base, len, MADV_DONTDUMP);
        if (base != MAP_FAILED || len == present)
            return base;
    }
}

/* If the file could shrink, mapped pages could disappear. */
static int check_file(int fd, struct stat *st)
{
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0 || fstat(fd, st) < 0)
        return -errno;
    if (!(seals & F_SEAL_SHRINK) || st->st_size < (off_t)sizeof(struct seg_header))
        return SEG_FOREIGN;
    return 0;
}

int attach_store(int fd, struct attachment *a_p)
{
    struct stat st;
    int rc = check_file(fd, &st);

    *a_p = ATTACHMENT_NULL;
    if (rc == 0) {
        a_p->device = st.st_dev;
        a_p->inode = st.st_ino;
        a_p->base = map_window(fd, (uint64_t)st.st_size, &a_p->mapped);
        rc = a_p->base == MAP_FAILED ? -errno : 0;
    }
    if (rc == 0)
        rc = seg_open(a_p->base, a_p->mapped, &a_p->view);
    close(fd);
    if (rc != 0)
        detach_store(a_p);
    return rc;
}

int attach_store_again(int fd, struct attachment *kept, struct attachment *a_p)
{
    struct stat st;

    if (kept->base && fstat(fd, &st) == 0 && st.st_dev == kept->device &&
        st.st_ino == kept->inode) {
        *a_p = *kept;
        *kept = ATTACHMENT_NULL;
        close(fd);
        return 0;
    }
    detach_store(kept);
    return attach_store(fd, a_p);
}

void detach_store(struct attachment *a)
{
    if (a->base && a->base != MAP_FAILED)
        munmap(a->base, a->mapped);
    *a = ATTACHMENT_NULL;
}
