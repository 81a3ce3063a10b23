/* stage_fs.c - a shared file system that counts: bench-stage-fs SOURCE MOUNT COUNTS MICROSECONDS.
 *
 * It shows the tree SOURCE below MOUNT, read-only: it returns when it is there, and serves it until
 * it is unmounted.  Each operation on names and attributes takes so long, as at the server of a
 * network file system, and is counted in the file COUNTS, which many of these share: as many 64-bit
 * numbers as there are kinds (enum kind).  The kernel keeps what it was told for a second
 * (libfuse's times), and asks again for names that are not there, each time. */
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum kind { METADATA, READS, BYTES, KINDS };

struct shared_fs {
    int root;
    struct timespec latency;
    uint64_t *counts; /* of all nodes */
};

static struct shared_fs *fs_of(void)
{
    return fuse_get_context()->private_data;
}

static void count(enum kind kind, uint64_t n)
{
    __atomic_add_fetch(&fs_of()->counts[kind], n, __ATOMIC_RELAXED);
}

static void ask_server(void)
{
    struct timespec left = fs_of()->latency;

    count(METADATA, 1);
    while (nanosleep(&left, &left))
        ;
}

static const char *below(const char *path)
{
    return path[1] ? path + 1 : ".";
}

static int fs_getattr(const char *path, struct stat *st, struct fuse_file_info *file)
{
    (void)file;
    ask_server();
    return fstatat(fs_of()->root, below(path), st, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
}

static int fs_readlink(const char *path, char *text, size_t size)
{
    ssize_t n;

    ask_server();
    n = readlinkat(fs_of()->root, below(path), text, size - 1);
    if (n < 0)
        return -errno;
    text[n] = '\0';
    return 0;
}

static int fs_open(const char *path, struct fuse_file_info *file)
{
    int fd;

    ask_server();
    fd = openat(fs_of()->root, below(path), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    file->fh = (uint64_t)fd;
    return 0;
}

static int fs_release(const char *path, struct fuse_file_info *file)
{
    (void)path;
    return close((int)file->fh) ? -errno : 0;
}

static int fs_read(const char *path, char *bytes, size_t size, off_t at,
                   struct fuse_file_info *file)
{
    ssize_t n = pread((int)file->fh, bytes, size, at);

    (void)path;
    if (n < 0)
        return -errno;
    count(READS, 1);
    count(BYTES, (uint64_t)n);
    return (int)n;
}

static int fs_readdir(const char *path, void *list, fuse_fill_dir_t fill, off_t at,
                      struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
    int fd = openat(fs_of()->root, below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    (void)at;
    (void)file;
    (void)flags;
    ask_server();
    if (!dir)
        return -errno;
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir))
        fill(list, e->d_name, NULL, 0, 0);
    closedir(dir);
    return 0;
}

static const struct fuse_operations operations = {
    .getattr = fs_getattr,
    .readlink = fs_readlink,
    .open = fs_open,
    .release = fs_release,
    .read = fs_read,
    .readdir = fs_readdir,
};

static uint64_t *shared_counts(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *m = MAP_FAILED;

    if (fd >= 0 && !ftruncate(fd, KINDS * sizeof(uint64_t)))
        m = mmap(NULL, KINDS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return m == MAP_FAILED ? NULL : m;
}

int main(int argc, char **argv)
{
    char option[] = "-oro";
    char *words[] = { argv[0], argc > 2 ? argv[2] : NULL, option, NULL };
    struct shared_fs fs;
    long us;

    if (argc != 5) {
        fprintf(stderr, "usage: bench-stage-fs SOURCE MOUNT COUNTS MICROSECONDS\n");
        return 2;
    }
    us = strtol(argv[4], NULL, 10);
    fs.latency = (struct timespec){ .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
    fs.root = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
    fs.counts = shared_counts(argv[3]);
    if (fs.root < 0 || !fs.counts) {
        fprintf(stderr, "bench-stage-fs: %s: %s\n", fs.root < 0 ? argv[1] : argv[3],
                strerror(errno));
        return 1;
    }
    return fuse_main(3, words, &operations, &fs);
}
