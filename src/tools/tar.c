/* tar.c - see tar.h. */
#include "tools/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/write_all.h"

enum { TAR_BLOCK = 512, TAR_PIECE = 64 << 10 };

struct tar_head {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6],
        version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};

_Static_assert(sizeof(struct tar_head) == TAR_BLOCK, "the head of a file is one block");

static int put_head(int fd, const char *name, uint64_t size, uint64_t time_s)
{
    struct tar_head h = { .type = '0', .magic = "ustar", .version = { '0', '0' } };
    const unsigned char *bytes = (const unsigned char *)&h;
    unsigned sum = 0;

    if (strlen(name) >= sizeof h.name)
        return -ENAMETOOLONG;
    if (size >= UINT64_C(1) << 33)
        return -EFBIG;
    strcpy(h.name, name);
    strcpy(h.mode, "0000600");
    strcpy(h.uid, "0000000");
    strcpy(h.gid, "0000000");
    snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)size);
    snprintf(h.mtime, sizeof h.mtime, "%011llo", (unsigned long long)(time_s & 0x1ffffffff));
    memset(h.sum, ' ', sizeof h.sum);
    for (size_t i = 0; i < sizeof h; i++)
        sum += bytes[i];
    snprintf(h.sum, sizeof h.sum, "%06o", sum);
    return write_all_slice(fd, slice_mem(&h, sizeof h));
}

/* Files end with a block. */
static int put_padding(int fd, uint64_t size)
{
    static const char zeros[TAR_BLOCK];
    size_t rest = (size_t)(size % TAR_BLOCK);

    return rest ? write_all_slice(fd, slice_mem(zeros, TAR_BLOCK - rest)) : 0;
}

int tar_bytes(int fd, const char *name, uint64_t time_s, struct slice bytes)
{
    int rc = put_head(fd, name, bytes.len, time_s);

    if (rc == 0)
        rc = write_all_slice(fd, bytes);
    return rc < 0 ? rc : put_padding(fd, bytes.len);
}

/* So many bytes; a file that has become shorter is filled up. */
static int copy_bytes(int to, int from, uint64_t left)
{
    char piece[TAR_PIECE];
    int rc = 0;

    while (rc == 0 && left) {
        size_t want = left < sizeof piece ? (size_t)left : sizeof piece;
        ssize_t n = read(from, piece, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0) {
            memset(piece, 0, want);
            n = (ssize_t)want;
        }
        rc = write_all_slice(to, slice_mem(piece, (size_t)n));
        left -= (size_t)n;
    }
    return rc;
}

int tar_copy(int fd, const char *name, uint64_t time_s, const char *path, uint64_t *size_p)
{
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
    struct stat st;

    if (from < 0)
        return -errno;
    rc = fstat(from, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (rc == 0) {
        *size_p = (uint64_t)st.st_size;
        rc = put_head(fd, name, *size_p, time_s);
    }
    if (rc == 0)
        rc = copy_bytes(fd, from, *size_p);
    close(from);
    return rc < 0 ? rc : put_padding(fd, *size_p);
}

int tar_end(int fd)
{
    static const char zeros[2 * TAR_BLOCK];

    return write_all_slice(fd, slice_mem(zeros, sizeof zeros));
}
