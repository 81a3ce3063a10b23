/* staging_stream.c - see staging_stream.h. */
#include "wire/staging_stream.h"

#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static bool component_is_good(struct slice c)
{
    return c.len > 0 && !slice_is(c, ".") && !slice_is(c, "..");
}

bool staging_name_is_good(struct slice name)
{
    if (name.len == 0 || name.len > STAGING_NAME || slice_find(name, '\0') < name.len ||
        name.ptr[name.len - 1] == '/')
        return false;
    while (name.len) {
        if (!component_is_good(slice_cut(&name, '/')))
            return false;
    }
    return true;
}

bool staging_name_of(const char *path, char name[STAGING_NAME + 1])
{
    struct slice rest = slice_str(path);
    size_t n = 0;

    while (rest.len) {
        struct slice part = slice_cut(&rest, '/');
        if (part.len == 0 || slice_is(part, "."))
            continue;
        if (slice_is(part, "..") || n + 1 + part.len > STAGING_NAME)
            return false;
        if (n)
            name[n++] = '/';
        memcpy(name + n, part.ptr, part.len);
        n += part.len;
    }
    name[n] = '\0';
    return n > 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Numbers are little-endian. */
static void put_number(struct buf *out, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buf_byte(out, (char)(unsigned char)(v >> 8 * i));
}

static void put_text(struct buf *out, struct slice text)
{
    put_number(out, text.len, 2);
    buf_slice_put(out, text);
}

void staging_stream_put(const struct staging_item *item, struct buf *out)
{
    if (item->kind == STAGING_SUM) {
        buf_slice_put(out, item->bytes);
        return;
    }
    buf_byte(out, (char)item->kind);
    switch (item->kind) {
    case STAGING_BEGIN:
        put_number(out, item->size, 8);
        put_number(out, item->entries, 4);
        break;
    case STAGING_DIR:
        put_number(out, item->mode, 2);
        put_text(out, item->name);
        break;
    case STAGING_FILE:
        put_number(out, item->mode, 2);
        put_number(out, item->size, 8);
        put_number(out, (uint64_t)item->seconds, 8);
        put_number(out, item->ns, 4);
        put_text(out, item->name);
        break;
    case STAGING_LINK:
        put_text(out, item->name);
        put_text(out, item->bytes);
        break;
    case STAGING_END: buf_slice_put(out, item->bytes); break;
    case STAGING_BYTES:
    case STAGING_SUM: break;
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Bytes that are taken from the front; short: there were too few. */
struct taker {
    struct slice rest;
    bool is_short;
};

static struct slice take(struct taker *t, size_t n)
{
    struct slice s = slice_head(t->rest, n);

    t->is_short = t->is_short || s.len < n;
    t->rest = slice_skip(t->rest, n);
    return s;
}

static uint64_t take_number(struct taker *t, unsigned bytes)
{
    struct slice s = take(t, bytes);
    uint64_t v = 0;

    for (unsigned i = 0; i < s.len; i++)
        v |= (uint64_t)(unsigned char)s.ptr[i] << 8 * i;
    return v;
}

static struct slice take_text(struct taker *t)
{
    return take(t, take_number(t, 2));
}

static void take_item(struct taker *t, struct staging_item *item)
{
    switch (item->kind) {
    case STAGING_BEGIN:
        item->size = take_number(t, 8);
        item->entries = (uint32_t)take_number(t, 4);
        break;
    case STAGING_DIR:
        item->mode = (uint32_t)take_number(t, 2);
        item->name = take_text(t);
        break;
    case STAGING_FILE:
        item->mode = (uint32_t)take_number(t, 2);
        item->size = take_number(t, 8);
        item->seconds = (int64_t)take_number(t, 8);
        item->ns = (uint32_t)take_number(t, 4);
        item->name = take_text(t);
        break;
    case STAGING_LINK:
        item->name = take_text(t);
        item->bytes = take_text(t);
        break;
    case STAGING_END:
    case STAGING_SUM: item->bytes = take(t, STAGING_HASH); break;
    case STAGING_BYTES: break;
    }
}

static const char *fault_of(const struct staging_stream *s, const struct staging_item *item)
{
    bool named =
        item->kind == STAGING_DIR || item->kind == STAGING_FILE || item->kind == STAGING_LINK;

    if (s->ended)
        return "bytes behind the end";
    if (s->begun != (item->kind != STAGING_BEGIN))
        return s->begun ? "a second beginning" : "no beginning";
    if (named && !staging_name_is_good(item->name))
        return "a name that leads elsewhere";
    if (item->mode > 0777)
        return "a mode that is none";
    if (item->ns > 999999999)
        return "a time that is none";
    if (item->kind == STAGING_LINK && (item->bytes.len == 0 || item->bytes.len > STAGING_NAME ||
                                       slice_find(item->bytes, '\0') < item->bytes.len))
        return "a link to nothing";
    return NULL;
}

/* The bytes of a file, as many as are here, or its hash behind them. */
static int read_content(struct staging_stream *s, struct slice in, struct staging_item *item_p,
                        size_t *used_p)
{
    if (s->left == 0) {
        if (in.len < STAGING_HASH)
            return STAGING_MORE;
        *item_p =
            (struct staging_item){ .kind = STAGING_SUM, .bytes = slice_head(in, STAGING_HASH) };
        s->in_file = false;
    } else {
        if (in.len == 0)
            return STAGING_MORE;
        *item_p = (struct staging_item){ .kind = STAGING_BYTES, .bytes = in };
        if (s->left < in.len)
            item_p->bytes = slice_head(in, (size_t)s->left);
        s->left -= item_p->bytes.len;
    }
    *used_p = item_p->bytes.len;
    return 0;
}

int staging_stream_read(struct staging_stream *s, struct slice in, struct staging_item *item_p,
                        size_t *used_p, struct errmsg *err)
{
    struct taker t = { slice_skip(in, 1), false };
    struct staging_item item = { .mode = 0 };
    const char *fault;

    if (s->in_file)
        return read_content(s, in, item_p, used_p);
    if (in.len == 0)
        return STAGING_MORE;
    if (in.ptr[0] < STAGING_BEGIN || in.ptr[0] > STAGING_END)
        return errmsg_set(err, STAGING_BAD, "the stream of staged files is damaged");
    item.kind = (enum staging_kind)in.ptr[0];
    take_item(&t, &item);
    if (t.is_short)
        return STAGING_MORE;
    fault = fault_of(s, &item);
    if (fault)
        return errmsg_set(err, STAGING_BAD, "the stream of staged files is damaged: %s", fault);
    s->begun = true;
    s->in_file = item.kind == STAGING_FILE;
    s->left = s->in_file ? item.size : 0;
    s->ended = item.kind == STAGING_END;
    *item_p = item;
    *used_p = in.len - t.rest.len;
    return 0;
}
