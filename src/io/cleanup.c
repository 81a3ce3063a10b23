/* cleanup.c - see cleanup.h.  Everything is done relative to open directories: the object that is
 * checked is the one that is removed.
 */
#include "io/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"

/* A folder above need not be readable. */
enum {
    OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    OPEN_ABOVE = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
};

struct cleaner {
    const struct cleanup_order *order;
    dev_t device;
    int removed;
};

/* Opens the directory that holds the path's last part, which goes to name. */
static int open_parent(int root, struct slice path, char *name, size_t room)
{
    int at = root == 0 ? open("/", OPEN_ABOVE) : openat(root, ".", OPEN_ABOVE);
    char part[NAME_MAX + 1];
    bool has_part = false;

    while (at >= 0 && path.len) {
        struct slice next = slice_cut(&path, '/');
        int below;
        if (next.len == 0)
            continue;
        if (next.len >= sizeof part || next.len >= room) {
            close(at);
            return -ENAMETOOLONG;
        }
        if (has_part) {
            below = openat(at, part, OPEN_ABOVE);
            close(at);
            at = below;
        }
        memcpy(part, next.ptr, next.len);
        part[next.len] = '\0';
        has_part = true;
    }
    if (at < 0)
        return -errno;
    if (!has_part) {
        close(at);
        return -EINVAL;
    }
    memcpy(name, part, strlen(part) + 1);
    return at;
}

static bool is_theirs(const struct cleanup_order *o, int at, const char *name, struct stat *st)
{
    return fstatat(at, name, st, AT_SYMLINK_NOFOLLOW) == 0 && st->st_uid == o->uid;
}

static bool stays(const struct cleanup_order *o, const char *name)
{
    struct slice rest = o->stay;

    while (rest.len) {
        if (slice_is(slice_trim(slice_cut(&rest, ',')), name))
            return true;
    }
    return false;
}

static void remove_entry(struct cleaner *s, int at, const char *name, int flags)
{
    if (unlinkat(at, name, flags) == 0)
        s->removed++;
}

static void cleanup_below(struct cleaner *s, int at, unsigned depth);

static void cleanup_entry(struct cleaner *s, int at, const char *name, unsigned depth)
{
    struct stat st;
    int below;

    if (!is_theirs(s->order, at, name, &st) || stays(s->order, name))
        return;
    if (!S_ISDIR(st.st_mode)) {
        if (!s->order->empty_only)
            remove_entry(s, at, name, 0);
        return;
    }
    if (!s->order->recursive || depth >= LIMIT_CLEANUP_DEPTH || st.st_dev != s->device)
        return;
    below = openat(at, name, OPEN_DIR);
    if (below < 0)
        return;
    if (fstat(below, &st) == 0 && st.st_uid == s->order->uid && st.st_dev == s->device)
        cleanup_below(s, below, depth + 1);
    else
        close(below);
    remove_entry(s, at, name, AT_REMOVEDIR); /* if it is empty now */
}

/* The descriptor becomes ours. */
static void cleanup_below(struct cleaner *s, int at, unsigned depth)
{
    DIR *dir = fdopendir(at);
    const struct dirent *e;

    if (!dir) {
        close(at);
        return;
    }
    while ((e = readdir(dir))) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            cleanup_entry(s, dirfd(dir), e->d_name, depth);
    }
    closedir(dir);
}

static void cleanup_directory(struct cleaner *s, int parent, const char *name)
{
    int top = openat(parent, name, OPEN_DIR);
    struct stat st;

    if (top < 0)
        return;
    if (fstat(top, &st) < 0 || st.st_uid != s->order->uid) {
        close(top);
        return;
    }
    s->device = st.st_dev;
    cleanup_below(s, top, 0);
    if (!s->order->leave_top)
        remove_entry(s, parent, name, AT_REMOVEDIR);
}

int cleanup_run(const struct cleanup_order *o)
{
    struct cleaner s = { .order = o };
    char name[NAME_MAX + 1];
    int parent = open_parent(o->root, o->path, name, sizeof name);
    struct stat st;
    int rc = 0;

    if (parent < 0)
        return parent;
    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        rc = -errno;
    else if (st.st_uid != o->uid)
        rc = -EPERM;
    else if (o->directory && S_ISDIR(st.st_mode))
        cleanup_directory(&s, parent, name);
    else if (!o->directory && !S_ISDIR(st.st_mode))
        remove_entry(&s, parent, name, 0);
    else
        rc = o->directory ? -ENOTDIR : -EISDIR;
    close(parent);
    return rc < 0 ? rc : s.removed;
}

int cleanup_segment(struct slice number, uid_t uid)
{
    struct shmid_ds s;
    uint32_t id;

    if (!slice_u32(number, &id) || id > INT32_MAX)
        return -EINVAL;
    if (shmctl((int)id, IPC_STAT, &s) < 0)
        return errno == EINVAL || errno == EIDRM ? -ENOENT : errno == EACCES ? -EPERM : -errno;
    if (s.shm_perm.uid != uid || s.shm_perm.cuid != uid)
        return -EPERM;
    return shmctl((int)id, IPC_RMID, NULL) < 0 ? -errno : 0;
}
