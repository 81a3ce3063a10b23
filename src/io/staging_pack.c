/* staging_pack.c - see staging_pack.h.  Reading order: a walk; what it counts; what it writes. */
#include "io/staging_pack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/write_all.h"
#include "wire/staging_stream.h"

enum { PERMISSIONS = 0777, DEPTH_MOST = 100 };

struct packer {
    int out;       /* -1: it is only counted */
    uint64_t size; /* of all files so far */
    uint32_t entries;
    crypto_generichash_state listing; /* of all items but contents */
    struct buf scratch;
    char *piece;
    struct errmsg *err;
};

/* One entry of the walk. */
struct walk_entry {
    int dir; /* `path` is relative to it */
    const char *path;
    const char *name;  /* in the stream */
    const char *shown; /* to people */
    bool follows;      /* it was named by the user: a link is followed */
    unsigned depth;
};

static int cannot(struct packer *p, const struct walk_entry *at, int rc)
{
    return errmsg_set(p->err, rc, "-stage: %.700s cannot be read: %s", at->shown, err_text(rc));
}

static int send_bytes(struct packer *p, struct slice bytes)
{
    int rc = write_all_slice(p->out, bytes);

    return rc < 0 ? errmsg_set(p->err, rc, "nobody takes the staged files: %s", err_text(rc)) : 0;
}

/* An item other than the bytes of files: these are in the hash of all, too. */
static int send_item(struct packer *p, const struct staging_item *item)
{
    struct slice bytes;

    buf_clear(&p->scratch);
    staging_stream_put(item, &p->scratch);
    if (!buf_ok(&p->scratch))
        return errmsg_set(p->err, -ENOMEM, "out of memory for staged files");
    bytes = buf_slice(&p->scratch);
    crypto_generichash_update(&p->listing, (const unsigned char *)bytes.ptr, bytes.len);
    return send_bytes(p, bytes);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int has_changed(struct packer *p, const struct walk_entry *at)
{
    return errmsg_set(p->err, -EAGAIN, "-stage: %.700s has changed while it was read", at->shown);
}

static int send_content(struct packer *p, const struct walk_entry *at, int fd, uint64_t size)
{
    crypto_generichash_state state;
    unsigned char hash[STAGING_HASH];
    uint64_t done = 0;
    ssize_t n;
    int rc = 0;

    crypto_generichash_init(&state, NULL, 0, sizeof hash);
    while (rc == 0 && (n = read(fd, p->piece, LIMIT_STAGING_PIECE)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot(p, at, -errno);
        done += (uint64_t)n;
        if (done > size)
            return has_changed(p, at);
        crypto_generichash_update(&state, (const unsigned char *)p->piece, (size_t)n);
        rc = send_bytes(p, slice_mem(p->piece, (size_t)n));
    }
    if (rc == 0 && done < size)
        return has_changed(p, at);
    crypto_generichash_final(&state, hash, sizeof hash);
    return rc ? rc
              : send_item(p, &(struct staging_item){ .kind = STAGING_SUM,
                                                     .bytes = slice_mem(hash, sizeof hash) });
}

static int pack_file(struct packer *p, const struct walk_entry *at)
{
    int fd =
        openat(at->dir, at->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (at->follows ? 0 : O_NOFOLLOW));
    struct staging_item item = { .kind = STAGING_FILE, .name = slice_str(at->name) };
    struct stat st;
    int rc;

    if (fd < 0)
        return cannot(p, at, -errno);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return has_changed(p, at);
    }
    item.mode = st.st_mode & PERMISSIONS;
    item.size = (uint64_t)st.st_size;
    item.seconds = st.st_mtim.tv_sec;
    item.ns = (uint32_t)st.st_mtim.tv_nsec;
    rc = send_item(p, &item);
    if (rc == 0)
        rc = send_content(p, at, fd, item.size);
    close(fd);
    return rc;
}

static int pack_link(struct packer *p, const struct walk_entry *at)
{
    char target[STAGING_NAME + 1];
    ssize_t n = readlinkat(at->dir, at->path, target, sizeof target);

    if (n < 0 || (size_t)n > STAGING_NAME)
        return cannot(p, at, n < 0 ? -errno : -ENAMETOOLONG);
    return send_item(p, &(struct staging_item){ .kind = STAGING_LINK,
                                                .name = slice_str(at->name),
                                                .bytes = slice_mem(target, (size_t)n) });
}

/* ---- the walk -------------------------------------------------------------------------------- */

static int pack(struct packer *p, const struct walk_entry *at);

static int pack_below(struct packer *p, const struct walk_entry *above, int dir, const char *entry)
{
    struct walk_entry at = { .dir = dir, .path = entry, .depth = above->depth + 1 };
    char *name = NULL, *shown = NULL;
    int rc = -ENOMEM;

    if (asprintf(&name, "%s/%s", above->name, entry) >= 0 &&
        asprintf(&shown, "%s/%s", above->shown, entry) >= 0) {
        at.name = name;
        at.shown = shown;
        rc = pack(p, &at);
    } else {
        errmsg_set(p->err, rc, "out of memory for staged files");
    }
    free(name);
    free(shown);
    return rc;
}

static int pack_dir(struct packer *p, const struct walk_entry *at, mode_t mode)
{
    int fd = openat(at->dir, at->path,
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | (at->follows ? 0 : O_NOFOLLOW));
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e = NULL;
    int rc = 0;

    if (!d) {
        rc = -errno;
        if (fd >= 0)
            close(fd);
        return cannot(p, at, rc);
    }
    if (p->out >= 0)
        rc = send_item(p, &(struct staging_item){ .kind = STAGING_DIR,
                                                  .mode = mode & PERMISSIONS,
                                                  .name = slice_str(at->name) });
    while (rc == 0 && (errno = 0, e = readdir(d))) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            rc = pack_below(p, at, fd, e->d_name);
    }
    if (rc == 0 && errno)
        rc = cannot(p, at, -errno);
    closedir(d);
    return rc;
}

static int count(struct packer *p, const struct walk_entry *at, const struct stat *st)
{
    p->entries++;
    p->size += S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
    if (p->size > LIMIT_STAGING_BYTES)
        return errmsg_set(
            p->err, -EFBIG,
            "-stage: too large: with %.600s there are %llu MB; at most %llu MB are staged",
            at->shown, (unsigned long long)(p->size >> 20),
            (unsigned long long)(LIMIT_STAGING_BYTES >> 20));
    if (p->entries > LIMIT_STAGING_ENTRIES || at->depth > DEPTH_MOST)
        return errmsg_set(
            p->err, -EFBIG,
            "-stage: too large at %.600s: at most %u files, %u levels deep, are staged", at->shown,
            LIMIT_STAGING_ENTRIES, DEPTH_MOST);
    if (!staging_name_is_good(slice_str(at->name)))
        return cannot(p, at, -ENAMETOOLONG);
    return 0;
}

static int pack(struct packer *p, const struct walk_entry *at)
{
    struct stat st;
    int rc = 0;

    if (fstatat(at->dir, at->path, &st, at->follows ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
        return cannot(p, at, -errno);
    if (p->out < 0)
        rc = count(p, at, &st);
    if (rc)
        return rc;
    if (S_ISDIR(st.st_mode))
        return pack_dir(p, at, st.st_mode);
    if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return errmsg_set(p->err, -EINVAL,
                          "-stage: %.700s is a %s; only files, directories and links are staged",
                          at->shown,
                          S_ISFIFO(st.st_mode)   ? "pipe"
                          : S_ISSOCK(st.st_mode) ? "socket"
                                                 : "device");
    if (p->out < 0)
        return 0;
    return S_ISREG(st.st_mode) ? pack_file(p, at) : pack_link(p, at);
}

static int pack_all(struct packer *p, const struct staging_source *sources, uint32_t n)
{
    int rc = 0;

    for (uint32_t i = 0; i < n && rc == 0; i++)
        rc = pack(p, &(struct walk_entry){ .dir = AT_FDCWD,
                                           .path = sources[i].path,
                                           .name = sources[i].name,
                                           .shown = sources[i].path,
                                           .follows = true });
    return rc;
}

static int send_all(struct packer *p, const struct staging_source *sources, uint32_t n)
{
    unsigned char hash[STAGING_HASH];
    int rc;

    crypto_generichash_init(&p->listing, NULL, 0, sizeof hash);
    rc = send_item(
        p, &(struct staging_item){ .kind = STAGING_BEGIN, .size = p->size, .entries = p->entries });
    if (rc == 0)
        rc = pack_all(p, sources, n);
    crypto_generichash_final(&p->listing, hash, sizeof hash);
    return rc ? rc
              : send_item(p, &(struct staging_item){ .kind = STAGING_END,
                                                     .bytes = slice_mem(hash, sizeof hash) });
}

int staging_pack(int out, const struct staging_source *sources, uint32_t n, struct errmsg *err)
{
    struct packer p = { .out = -1, .scratch = BUF_NULL(1 << 20), .err = err };
    int rc;

    p.piece = malloc(LIMIT_STAGING_PIECE);
    if (!p.piece || sodium_init() < 0)
        rc = errmsg_set(err, -ENOMEM, "out of memory for staged files");
    else
        rc = pack_all(&p, sources, n);
    p.out = out;
    if (rc == 0)
        rc = send_all(&p, sources, n);
    buf_free(&p.scratch);
    free(p.piece);
    return rc;
}
