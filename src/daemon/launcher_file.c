/* launcher_file.c - see launcher_file.h. */
#include "daemon/launcher_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void launcher_file_boot(char boot_p[LAUNCHER_FILE_BOOT])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, boot_p, LAUNCHER_FILE_BOOT - 1) : -1;

    if (fd >= 0)
        close(fd);
    boot_p[n > 0 ? n : 0] = '\0';
    boot_p[strcspn(boot_p, "\n")] = '\0';
}

void launcher_file_end(struct buf *addresses, const char *boot)
{
    buf_printf(addresses, "\n%s\n", boot);
}

bool launcher_file_read(struct slice text, struct launcher_file *f_p)
{
    f_p->addresses = slice_cut(&text, '\n');
    f_p->boot = slice_cut(&text, '\n');
    return f_p->addresses.len > 0;
}

/* The name may have come to another file meanwhile. */
static bool is_named(int fd, int dir, const char *name)
{
    struct stat here, there;

    return fstat(fd, &here) == 0 && fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

bool launcher_file_is_left(int dir, const char *name, const char *boot)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char text[LAUNCHER_FILE_MOST];
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;
    struct launcher_file f;
    bool left;

    left = n > 0 && boot[0] && launcher_file_read(slice_mem(text, (size_t)n), &f) &&
           slice_is(f.boot, boot) && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_named(fd, dir, name);
    if (fd >= 0)
        close(fd);
    return left;
}
