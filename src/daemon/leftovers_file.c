/* leftovers_file.c - see leftovers_file.h. */
#include "daemon/leftovers_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/create.h"

#define FOLDER     "/dev/shm"
#define FIRST_WORD "wireup-leftovers."

enum { TRIES = 4 };

static unsigned long long space_number(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* What the names of our files begin with. */
static size_t write_prefix(char name[LEFTOVERS_FILE_NAME])
{
    return (size_t)snprintf(name, LEFTOVERS_FILE_NAME, FIRST_WORD "%u.%llu.%llu.",
                            (unsigned)geteuid(), space_number("/proc/self/ns/mnt"),
                            space_number("/proc/self/ns/ipc"));
}

static int open_folder(void)
{
    return open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The lock is ours, and so is the file, which still has its name. */
static bool lock(int fd)
{
    struct stat st;

    return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid() && st.st_nlink == 1;
}

/* Whoever looks for orphans may find it before it is locked: then another one. */
static int create(int folder, char name[LEFTOVERS_FILE_NAME])
{
    size_t n = write_prefix(name);

    for (int i = 0; i < TRIES; i++) {
        uint64_t digits;
        int fd;
        if (getrandom(&digits, sizeof digits, GRND_NONBLOCK) != (ssize_t)sizeof digits)
            return -1;
        snprintf(name + n, LEFTOVERS_FILE_NAME - n, "%016llx", (unsigned long long)digits);
        fd = create_new_at(folder, name);
        if (fd >= 0 && lock(fd))
            return fd;
        if (fd >= 0) {
            unlinkat(folder, name, 0);
            close(fd);
        }
    }
    return -1;
}

static void write_anew(struct leftovers_file *f, int folder, struct slice list)
{
    struct leftovers_file new = { .lock = create(folder, new.name) };

    if (new.lock < 0)
        return;
    if (write(new.lock, list.ptr, list.len) != (ssize_t)list.len) {
        unlinkat(folder, new.name, 0);
        close(new.lock);
        return;
    }
    *f = new;
}

void leftovers_file_write(struct leftovers_file *f, struct slice list)
{
    struct leftovers_file old = *f;
    int folder;

    if (!old.name[0] && !list.len)
        return;
    folder = open_folder();
    if (folder < 0)
        return;
    *f = (struct leftovers_file){ .lock = -1 };
    if (list.len)
        write_anew(f, folder, list);
    if (old.name[0]) { /* from here on the new one alone counts */
        unlinkat(folder, old.name, 0);
        close(old.lock);
    }
    close(folder);
}

void leftovers_file_unlink(struct leftovers_file *f)
{
    int folder = f->name[0] ? open_folder() : -1;

    if (folder < 0)
        return;
    unlinkat(folder, f->name, 0);
    close(folder);
    f->name[0] = '\0';
}

static void take_orphan(int folder, const char *name, void (*fn)(struct slice list))
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char *bytes = malloc(LIMIT_LEFTOVERS);
    ssize_t n;

    if (fd >= 0 && bytes && lock(fd)) {
        n = read(fd, bytes, LIMIT_LEFTOVERS);
        if (n > 0)
            fn(slice_mem(bytes, (size_t)n));
        unlinkat(folder, name, 0);
    }
    free(bytes);
    if (fd >= 0)
        close(fd);
}

/* The numbers of the name spaces take longer to get than the list of the folder, which has mostly
 * no such name. */
static bool is_ours(const char *name)
{
    char prefix[LEFTOVERS_FILE_NAME];
    size_t n;

    if (strncmp(name, FIRST_WORD, strlen(FIRST_WORD)) != 0)
        return false;
    n = write_prefix(prefix);
    return !strncmp(name, prefix, n);
}

void leftovers_file_each_orphan(void (*fn)(struct slice list))
{
    DIR *d = opendir(FOLDER);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        if (is_ours(e->d_name))
            take_orphan(dirfd(d), e->d_name, fn);
    }
    if (d)
        closedir(d);
}
