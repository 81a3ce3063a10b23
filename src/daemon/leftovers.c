/* leftovers.c - see leftovers.h.
 *
 * An entry is flags, user and two lengths, little-endian, and the two texts. */
#include "daemon/leftovers.h"

#include <string.h>

enum {
    ENTRY_SEGMENT = 1,
    ENTRY_DIRECTORY = 2,
    ENTRY_RECURSIVE = 4,
    ENTRY_EMPTY_ONLY = 8,
    ENTRY_LEAVE_TOP = 16,
    ENTRY_FLAGS = 31,
    ENTRY_HEAD = 1 + 4 + 4 + 4,
};

static struct leftovers_bytes *next_of(struct leftovers *l)
{
    return &l->lists[!atomic_load(&l->current)];
}

void leftovers_begin(struct leftovers *l)
{
    next_of(l)->used = 0;
}

static void append(struct leftovers_bytes *b, const void *bytes, size_t n)
{
    if (n)
        memcpy(b->bytes + b->used, bytes, n);
    b->used += (unsigned)n;
}

static void append_number(struct leftovers_bytes *b, uint32_t v)
{
    const unsigned char bytes[4] = { (unsigned char)v, (unsigned char)(v >> 8),
                                     (unsigned char)(v >> 16), (unsigned char)(v >> 24) };

    append(b, bytes, sizeof bytes);
}

static unsigned char flags_of(const struct cleanup_order *o, bool segment)
{
    return (unsigned char)((segment ? ENTRY_SEGMENT : 0) | (o->directory ? ENTRY_DIRECTORY : 0) |
                           (o->recursive ? ENTRY_RECURSIVE : 0) |
                           (o->empty_only ? ENTRY_EMPTY_ONLY : 0) |
                           (o->leave_top ? ENTRY_LEAVE_TOP : 0));
}

bool leftovers_add(struct leftovers *l, const struct cleanup_order *o, bool segment)
{
    struct leftovers_bytes *b = next_of(l);
    unsigned char flags = flags_of(o, segment);
    size_t room = sizeof b->bytes - b->used;

    if (room < ENTRY_HEAD || o->path.len > room - ENTRY_HEAD ||
        o->stay.len > room - ENTRY_HEAD - o->path.len)
        return false;
    append(b, &flags, 1);
    append_number(b, o->uid);
    append_number(b, (uint32_t)o->path.len);
    append_number(b, (uint32_t)o->stay.len);
    append(b, o->path.ptr, o->path.len);
    append(b, o->stay.ptr, o->stay.len);
    return true;
}

static struct slice list_of(const struct leftovers_bytes *b)
{
    return slice_mem((const char *)b->bytes, b->used < sizeof b->bytes ? b->used : sizeof b->bytes);
}

void leftovers_end(struct leftovers *l)
{
    struct leftovers_bytes *b = next_of(l);

    atomic_store(&l->current, !atomic_load(&l->current));
    leftovers_file_write(&l->file, list_of(b));
}

static bool take(struct slice *rest, size_t n, struct slice *part_p)
{
    if (n > rest->len)
        return false;
    *part_p = slice_mem(rest->ptr, n);
    *rest = slice_skip(*rest, n);
    return true;
}

static bool take_number(struct slice *rest, uint32_t *v_p)
{
    struct slice s;
    const unsigned char *b;

    if (!take(rest, 4, &s))
        return false;
    b = (const unsigned char *)s.ptr;
    *v_p = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return true;
}

bool leftovers_read(struct slice *rest, struct cleanup_order *o, bool *segment_p)
{
    struct slice flag;
    uint32_t uid, path, stay;
    unsigned char flags;

    if (!take(rest, 1, &flag) || !take_number(rest, &uid) || !take_number(rest, &path) ||
        !take_number(rest, &stay))
        return false;
    flags = (unsigned char)flag.ptr[0];
    if (flags & ~ENTRY_FLAGS)
        return false;
    *segment_p = flags & ENTRY_SEGMENT;
    *o = (struct cleanup_order){
        .uid = uid,
        .directory = flags & ENTRY_DIRECTORY,
        .recursive = flags & ENTRY_RECURSIVE,
        .empty_only = flags & ENTRY_EMPTY_ONLY,
        .leave_top = flags & ENTRY_LEAVE_TOP,
    };
    return take(rest, path, &o->path) && take(rest, stay, &o->stay) && o->path.len &&
           !memchr(o->path.ptr, 0, o->path.len);
}

/* Nobody is left who could be told of what stays. */
static void remove_all(struct slice list)
{
    struct cleanup_order o;
    bool segment;

    while (leftovers_read(&list, &o, &segment)) {
        if (segment)
            cleanup_segment(o.path, o.uid);
        else
            cleanup_run(&o);
    }
}

void leftovers_remove(struct leftovers *l)
{
    struct leftovers_bytes *b = &l->lists[atomic_load(&l->current) & 1];

    remove_all(list_of(b));
    b->used = 0;
    leftovers_file_unlink(&l->file);
}

void leftovers_tidy(void)
{
    leftovers_file_each_orphan(remove_all);
}
