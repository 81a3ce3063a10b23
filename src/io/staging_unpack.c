/* staging_unpack.c - see staging_unpack.h.  Reading order: directories; files; items; the stream.
 */
#include "io/staging_unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/create.h"
#include "io/write_all.h"
#include "wire/staging_stream.h"

enum {
    OPEN_DIR = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    BLOCK = 4096, /* what a small file takes */
};

struct unpacker {
    const char *dir;
    int top;                      /* ... open */
    int at;                       /* the directory of the current entry; -1: none */
    int file;                     /* the current file; -1: none */
    char name[NAME_MAX + 1];      /* ... in `at` */
    char shown[STAGING_NAME + 1]; /* ... from the top */
    uint32_t mode;
    struct timespec changed; /* when its content changed at its source */
    crypto_generichash_state content, listing;
    struct errmsg *err;
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int cannot(struct unpacker *u, int rc)
{
    if (rc == -ENOSPC || rc == -EDQUOT)
        return errmsg_set(u->err, rc, "no space for the staged files in %.500s: %s", u->dir,
                          err_text(rc));
    return errmsg_set(u->err, rc, "cannot make the staged file %.400s in %.400s: %s", u->shown,
                      u->dir, err_text(rc));
}

/* ---- directories ----------------------------------------------------------------------------- */

/* A directory in `at`, made if it is missing; no link is followed. */
static int enter(int at, const char *name)
{
    int rc = create_private_at(at, name), fd;

    if (rc < 0 && rc != -EEXIST)
        return rc;
    fd = openat(at, name, OPEN_DIR);
    return fd < 0 ? -errno : fd;
}

/* Opens the directory of an entry, and keeps its last component. */
static int find_place(struct unpacker *u, struct slice name)
{
    memcpy(u->shown, name.ptr, name.len);
    u->shown[name.len] = '\0';
    close_one(&u->at);
    u->at = dup(u->top);
    while (u->at >= 0) {
        struct slice part = slice_cut(&name, '/');
        int next;
        if (part.len > NAME_MAX)
            return -ENAMETOOLONG;
        memcpy(u->name, part.ptr, part.len);
        u->name[part.len] = '\0';
        if (name.len == 0)
            return 0;
        next = enter(u->at, u->name);
        close_one(&u->at);
        if (next < 0)
            return next;
        u->at = next;
    }
    return -errno;
}

/* It is removed again: we may always write to it. */
static int make_dir(struct unpacker *u, uint32_t mode)
{
    int fd = enter(u->at, u->name), rc = 0;

    if (fd < 0)
        return fd;
    if (fchmod(fd, mode | S_IRWXU) < 0)
        rc = -errno;
    close(fd);
    return rc;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int begin_file(struct unpacker *u, const struct staging_item *item)
{
    u->file = create_new_at(u->at, u->name);
    u->mode = item->mode;
    u->changed = (struct timespec){ .tv_sec = item->seconds, .tv_nsec = (long)item->ns };
    crypto_generichash_init(&u->content, NULL, 0, STAGING_HASH);
    return u->file < 0 ? u->file : 0;
}

/* Python compiles a module again whose time is not that of its compiled form: in each rank. */
static int keep_time(const struct unpacker *u)
{
    struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, u->changed };

    return futimens(u->file, times);
}

static int end_file(struct unpacker *u, struct slice sum)
{
    unsigned char hash[STAGING_HASH];
    int rc = 0;

    crypto_generichash_final(&u->content, hash, sizeof hash);
    if (sodium_memcmp(hash, sum.ptr, sizeof hash) != 0) {
        unlinkat(u->at, u->name, 0);
        return errmsg_set(u->err, 1,
                          "the staged file %.700s has another hash than at its source: it was "
                          "damaged on the way",
                          u->shown);
    }
    if (fchmod(u->file, u->mode) < 0 || keep_time(u) < 0)
        rc = -errno;
    if (close(u->file) < 0 && rc == 0)
        rc = -errno;
    u->file = -1;
    return rc < 0 ? cannot(u, rc) : 0;
}

/* ---- items ----------------------------------------------------------------------------------- */

static int check_space(struct unpacker *u, const struct staging_item *item)
{
    uint64_t needed = item->size + (uint64_t)item->entries * BLOCK, free_bytes;
    struct statvfs fs;

    if (item->size > LIMIT_STAGING_BYTES || item->entries > LIMIT_STAGING_ENTRIES)
        return errmsg_set(u->err, 1, "the stream of staged files is damaged: too large");
    if (fstatvfs(u->top, &fs) < 0)
        return 0;
    free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (free_bytes >= needed)
        return 0;
    return errmsg_set(u->err, -ENOSPC,
                      "no space for the staged files in %.500s: %llu kB are needed, %llu kB are "
                      "free; set TMPDIR to a larger place",
                      u->dir, (unsigned long long)(needed >> 10),
                      (unsigned long long)(free_bytes >> 10));
}

static int check_listing(struct unpacker *u, struct slice sum)
{
    unsigned char hash[STAGING_HASH];

    crypto_generichash_final(&u->listing, hash, sizeof hash);
    return sodium_memcmp(hash, sum.ptr, sizeof hash) == 0
               ? 0
               : errmsg_set(u->err, 1,
                            "names, modes or times of staged files have another hash than at their "
                            "source: they were damaged on the way");
}

static int make_entry(struct unpacker *u, const struct staging_item *item)
{
    int rc = find_place(u, item->name);

    if (rc == 0 && item->kind == STAGING_DIR)
        rc = make_dir(u, item->mode);
    else if (rc == 0 && item->kind == STAGING_FILE)
        rc = begin_file(u, item);
    else if (rc == 0) {
        char target[STAGING_NAME + 1];
        memcpy(target, item->bytes.ptr, item->bytes.len);
        target[item->bytes.len] = '\0';
        rc = create_link_at(u->at, u->name, target);
    }
    return rc < 0 ? cannot(u, rc) : 0;
}

static int write_bytes(struct unpacker *u, struct slice bytes)
{
    int rc = write_all_slice(u->file, bytes);

    crypto_generichash_update(&u->content, (const unsigned char *)bytes.ptr, bytes.len);
    return rc < 0 ? cannot(u, rc) : 0;
}

static int carry_out(struct unpacker *u, const struct staging_item *item)
{
    switch (item->kind) {
    case STAGING_BEGIN: return check_space(u, item);
    case STAGING_DIR:
    case STAGING_FILE:
    case STAGING_LINK: return make_entry(u, item);
    case STAGING_BYTES: return write_bytes(u, item->bytes);
    case STAGING_SUM: return end_file(u, item->bytes);
    case STAGING_END: return check_listing(u, item->bytes);
    }
    return 0;
}

/* ---- the stream ------------------------------------------------------------------------------ */

/* Carries out the items that are complete. */
static int take_items(struct unpacker *u, struct staging_stream *s, struct buf *in)
{
    struct staging_item item;
    size_t used;
    int rc;

    while ((rc = staging_stream_read(s, buf_slice(in), &item, &used, u->err)) == 0) {
        if (item.kind != STAGING_BYTES && item.kind != STAGING_END)
            crypto_generichash_update(&u->listing, (const unsigned char *)buf_slice(in).ptr, used);
        rc = carry_out(u, &item);
        if (rc)
            return rc;
        buf_take(in, used);
    }
    return rc == STAGING_MORE ? 0 : rc;
}

/* Also after the end: so that the other end is not cut off. */
static int read_stream(struct unpacker *u, int from)
{
    struct staging_stream s = STAGING_STREAM_NULL;
    struct buf in = BUF_NULL(4 * LIMIT_STAGING_PIECE);
    int rc = 0;

    crypto_generichash_init(&u->listing, NULL, 0, STAGING_HASH);
    while (rc == 0) {
        char *to = buf_room(&in, LIMIT_STAGING_PIECE);
        ssize_t n = to ? read(from, to, LIMIT_STAGING_PIECE) : -1;
        if (to && n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        buf_commit(&in, (size_t)n);
        rc = take_items(u, &s, &in);
    }
    buf_free(&in);
    if (rc == 0 && !s.ended)
        rc = errmsg_set(u->err, 1, "the stream of staged files breaks off");
    return rc;
}

int staging_unpack(int in, const char *dir, struct errmsg *err)
{
    struct unpacker u = { .dir = dir, .top = -1, .at = -1, .file = -1, .err = err };
    int rc = sodium_init() < 0 ? -EIO : create_private(dir);

    if (rc == 0) {
        u.top = open(dir, OPEN_DIR);
        rc = u.top < 0 ? -errno : 0;
    }
    if (rc < 0)
        rc = errmsg_set(err, rc, "cannot make the directory for staged files %.700s: %s", dir,
                        err_text(rc));
    else
        rc = read_stream(&u, in);
    close_one(&u.file);
    close_one(&u.at);
    close_one(&u.top);
    return rc;
}
