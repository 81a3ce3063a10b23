/* buf.c - see buf.h. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void buf_init(struct buf *b, size_t max)
{
    *b = BUF_NULL(max);
}

void buf_init_secret(struct buf *b, size_t max)
{
    *b = BUF_NULL(max);
    b->secret = true;
}

static void drop_memory(struct buf *b)
{
    if (b->secret && b->mem)
        explicit_bzero(b->mem, b->cap);
    free(b->mem);
}

void buf_free(struct buf *b)
{
    bool secret = b->secret;

    drop_memory(b);
    *b = BUF_NULL(b->max);
    b->secret = secret;
}

void buf_clear(struct buf *b)
{
    b->start = b->end = 0;
    b->error = BUF_FINE;
}

/* Short copies go through registers, which the dynamic linker may save on the stack: so a key,
 * which is at the beginning of a large buffer, is never part of a short copy. */
enum { FIRST = 64, FIRST_SECRET = 4096 };

static size_t grown(const struct buf *b, size_t need)
{
    size_t want = b->cap ? b->cap : b->secret ? FIRST_SECRET : FIRST;

    while (want < need)
        want = want > SIZE_MAX / 2 ? need : want * 2;
    return want;
}

char *buf_room(struct buf *b, size_t n)
{
    size_t live = buf_len(b);

    if (!buf_ok(b))
        return NULL;
    if (n > b->max || live > b->max - n) {
        b->error = BUF_TOO_LONG;
        return NULL;
    }
    /* One byte more than requested, so that buf_cstr never has to allocate. */
    if (b->mem && b->cap - b->end > n)
        return b->mem + b->end;
    if (b->start && b->cap - live > n && b->start >= live) {
        memcpy(b->mem, b->mem + b->start, live);
    } else {
        size_t cap = grown(b, live + n + 1);
        char *mem = malloc(cap);
        if (!mem) {
            b->error = BUF_NO_MEMORY;
            return NULL;
        }
        if (live)
            memcpy(mem, b->mem + b->start, live);
        drop_memory(b);
        b->mem = mem;
        b->cap = cap;
    }
    b->start = 0;
    b->end = live;
    return b->mem + b->end;
}

void buf_commit(struct buf *b, size_t n)
{
    b->end += n;
}

void buf_put(struct buf *b, const void *bytes, size_t n)
{
    char *room = buf_room(b, n);

    if (!room)
        return;
    if (n)
        memcpy(room, bytes, n);
    b->end += n;
}

void buf_slice_put(struct buf *b, struct slice s)
{
    buf_put(b, s.ptr, s.len);
}

void buf_str(struct buf *b, const char *text)
{
    buf_put(b, text, strlen(text));
}

void buf_byte(struct buf *b, char c)
{
    buf_put(b, &c, 1);
}

void buf_u64(struct buf *b, uint64_t v)
{
    char memory[SLICE_DIGITS_MAX];

    buf_slice_put(b, slice_digits(memory, v));
}

void buf_i64(struct buf *b, int64_t v)
{
    if (v < 0)
        buf_byte(b, '-');
    buf_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void buf_escaped(struct buf *b, struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c == '"' || c == '\\')
            buf_printf(b, "\\%c", c);
        else if (c == '\n')
            buf_str(b, "\\n");
        else if (c < ' ' || c >= 0x7f)
            buf_printf(b, "\\x%02x", c);
        else
            buf_byte(b, (char)c);
    }
}

void buf_percent(struct buf *b, const char *text, bool (*is_plain)(unsigned char c))
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (is_plain(*c))
            buf_byte(b, (char)*c);
        else
            buf_printf(b, "%%%02x", *c);
    }
}

void buf_unescaped(struct buf *b, struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != '\\' || i + 1 == s.len) {
            buf_byte(b, s.ptr[i]);
        } else if (s.ptr[i + 1] == 'x' && i + 3 < s.len) {
            buf_byte(b, (char)slice_hex_byte(s.ptr[i + 2], s.ptr[i + 3]));
            i += 3;
        } else {
            i++;
            buf_byte(b, s.ptr[i] == 'n' ? '\n' : s.ptr[i] == 't' ? '\t' : s.ptr[i]);
        }
    }
}

__attribute__((format(printf, 2, 0))) static void append_format(struct buf *b, const char *format,
                                                                va_list args)
{
    va_list again;
    int n;
    char *room;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0) {
        b->error = BUF_TOO_LONG;
        return;
    }
    room = buf_room(b, (size_t)n);
    if (!room)
        return;
    vsnprintf(room, (size_t)n + 1, format, args); /* buf_room leaves space for the NUL */
    b->end += (size_t)n;
}

void buf_time(struct buf *b, uint64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / 1000000000u);
    struct tm t;
    char text[32];

    if (gmtime_r(&seconds, &t) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t))
        buf_printf(b, "%s.%03uZ", text, (unsigned)(wall_ns / 1000000u % 1000u));
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    append_format(b, format, args);
    va_end(args);
}

void buf_take(struct buf *b, size_t n)
{
    size_t live = buf_len(b);

    if (n >= live)
        b->start = b->end = 0;
    else
        b->start += n;
}

void buf_cut(struct buf *b, size_t n)
{
    if (n < buf_len(b))
        b->end = b->start + n;
}

const char *buf_cstr(struct buf *b)
{
    char *room = buf_room(b, 0);

    if (!room)
        return NULL;
    *room = '\0';
    return b->mem + b->start;
}

char *buf_steal(struct buf *b, size_t *len_p)
{
    size_t live = buf_len(b);
    char *mem;

    if (!buf_cstr(b))
        return NULL;
    mem = b->mem;
    if (b->start)
        memmove(mem, mem + b->start, live + 1);
    *b = BUF_NULL(b->max);
    if (len_p)
        *len_p = live;
    return mem;
}
