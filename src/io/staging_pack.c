/* staging_pack.c - see staging_pack.h.  All is listed first, since its size is told first. */
#include "io/staging_pack.h"

#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/staging_ahead.h"
#include "io/write_all.h"
#include "wire/staging_stream.h"

enum { PERMISSIONS = 0777 };

struct packer {
    int out;
    crypto_generichash_state listing; /* of all items but contents */
    struct buf scratch;
    char *piece;
    struct errmsg *err;
};

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

static int has_changed(struct packer *p, const struct staging_entry *e)
{
    return errmsg_set(p->err, -EAGAIN, "-stage: %.600s%.200s has changed while it was read",
                      e->source->path, e->below);
}

/* Whether it is what the walk has found. */
static bool is_same(const struct staging_entry *e, const struct stat *st)
{
    return S_ISREG(st->st_mode) && (uint64_t)st->st_size == e->size &&
           st->st_mtim.tv_sec == e->changed.tv_sec && st->st_mtim.tv_nsec == e->changed.tv_nsec;
}

/* Also when all has been read: else it could be half of the old content and half of the new one. */
static bool has_stayed(const struct staging_entry *e, int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && is_same(e, &st);
}

static int send_content(struct packer *p, const struct staging_entry *e, int fd)
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
            return staging_entry_cannot(e, -errno, p->err);
        done += (uint64_t)n;
        if (done > e->size)
            return has_changed(p, e);
        crypto_generichash_update(&state, (const unsigned char *)p->piece, (size_t)n);
        rc = send_bytes(p, slice_mem(p->piece, (size_t)n));
    }
    if (rc == 0 && (done < e->size || !has_stayed(e, fd)))
        return has_changed(p, e);
    crypto_generichash_final(&state, hash, sizeof hash);
    return rc ? rc
              : send_item(p, &(struct staging_item){ .kind = STAGING_SUM,
                                                     .bytes = slice_mem(hash, sizeof hash) });
}

static int send_entry(struct packer *p, const struct staging_entry *e,
                      const struct staging_opened *o)
{
    char name[STAGING_NAME + 1];
    struct staging_item item = { .kind = e->kind, .mode = e->mode & PERMISSIONS };
    int rc = o->rc ? o->rc : staging_entry_name(e, name);

    if (rc)
        return staging_entry_cannot(e, rc, p->err);
    if (e->kind == STAGING_FILE && !is_same(e, &o->st))
        return has_changed(p, e);
    item.name = slice_str(name);
    if (e->kind == STAGING_LINK)
        item.bytes = slice_str(o->target);
    item.size = e->size;
    item.seconds = e->changed.tv_sec;
    item.ns = (uint32_t)e->changed.tv_nsec;
    rc = send_item(p, &item);
    return rc || e->kind != STAGING_FILE ? rc : send_content(p, e, o->fd);
}

static int send_entries(struct packer *p, const struct staging_walk *w)
{
    struct staging_ahead ahead;
    int rc = 0;

    staging_ahead_start(&ahead, w);
    for (uint32_t i = 0; i < w->n && rc == 0; i++)
        rc = send_entry(p, w->entries[i], staging_ahead_next(&ahead));
    staging_ahead_end(&ahead);
    return rc;
}

static int send_all(struct packer *p, const struct staging_walk *w)
{
    unsigned char hash[STAGING_HASH];
    int rc;

    crypto_generichash_init(&p->listing, NULL, 0, sizeof hash);
    rc = send_item(
        p, &(struct staging_item){ .kind = STAGING_BEGIN, .size = w->size, .entries = w->n });
    if (rc == 0)
        rc = send_entries(p, w);
    crypto_generichash_final(&p->listing, hash, sizeof hash);
    return rc ? rc
              : send_item(p, &(struct staging_item){ .kind = STAGING_END,
                                                     .bytes = slice_mem(hash, sizeof hash) });
}

int staging_pack(int out, const struct staging_source *sources, uint32_t n, struct errmsg *err)
{
    struct packer p = { .out = out, .scratch = BUF_NULL(1 << 20), .err = err };
    struct staging_walk w;
    int rc = staging_walk(&w, sources, n, err);

    p.piece = malloc(LIMIT_STAGING_PIECE);
    if (rc == 0 && (!p.piece || sodium_init() < 0))
        rc = errmsg_set(err, -ENOMEM, "out of memory for staged files");
    if (rc == 0)
        rc = send_all(&p, &w);
    staging_walk_free(&w);
    buf_free(&p.scratch);
    free(p.piece);
    return rc;
}
