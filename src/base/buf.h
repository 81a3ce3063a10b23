/* buf.h - a growable byte buffer with a hard maximum, which remembers its first error.
 *
 * A failed write poisons the buffer: after the first one (out of memory, or over the maximum)
 * nothing more is written and buf_ok() is false, so ten writes need one check at the end.  Reading
 * is from the front: buf_take() drops bytes, and the space is reused without moving more than
 * needed.
 *
 * Ownership: the buffer owns its memory; buf_slice() lends it until the next write.
 */
#ifndef WIREUP_BASE_BUF_H
#define WIREUP_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* BUF_MALFORMED: the writer of a format (json.h) was used wrongly. */
enum buf_error { BUF_FINE = 0, BUF_NO_MEMORY, BUF_TOO_LONG, BUF_MALFORMED };

struct buf {
    char *mem;
    size_t start, end; /* live bytes are mem[start..end) */
    size_t cap;
    size_t max; /* live bytes never exceed this */
    enum buf_error error;
    bool secret; /* memory is wiped before it is freed */
};

#define BUF_NULL(maximum) ((struct buf){ NULL, 0, 0, 0, (maximum), BUF_FINE, false })

void buf_init(struct buf *b, size_t max);
/* For a buffer that holds a key. */
void buf_init_secret(struct buf *b, size_t max);
void buf_free(struct buf *b); /* back to empty; harmless twice; the maximum stays */

static inline size_t buf_len(const struct buf *b)
{
    return b->end - b->start;
}

static inline bool buf_ok(const struct buf *b)
{
    return b->error == BUF_FINE;
}

static inline struct slice buf_slice(const struct buf *b)
{
    return (struct slice){ b->mem ? b->mem + b->start : NULL, b->end - b->start };
}

void buf_clear(struct buf *b); /* empty and un-poisoned, memory kept */

/* Makes room for n more bytes and returns where to write them, or NULL (poisoned).
 * Follow with buf_commit(b, written). */
char *buf_room(struct buf *b, size_t n);
void buf_commit(struct buf *b, size_t n);

void buf_put(struct buf *b, const void *bytes, size_t n);
void buf_slice_put(struct buf *b, struct slice s);
void buf_str(struct buf *b, const char *text);
void buf_byte(struct buf *b, char c);
void buf_u64(struct buf *b, uint64_t v); /* decimal text */
void buf_i64(struct buf *b, int64_t v);
/* As inside the quotes of a C string; bytes that are not printable ASCII become \xHH. */
void buf_escaped(struct buf *b, struct slice s);
/* The bytes that such a text means; \t, too. */
void buf_unescaped(struct buf *b, struct slice s);
/* With % and two digits in place of each byte that is not plain; % itself must not be. */
void buf_percent(struct buf *b, const char *text, bool (*is_plain)(unsigned char c));
/* The time of day, "2026-11-24T01:02:03.456Z". */
void buf_time(struct buf *b, uint64_t wall_ns);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Drops n bytes from the front (all if there are fewer). */
void buf_take(struct buf *b, size_t n);

/* Keeps the first n bytes, of a poisoned one too: so a message that fails halfway leaves nothing.
 */
void buf_cut(struct buf *b, size_t n);

/* NUL-terminates (the NUL is not counted) and lends the text; NULL when poisoned. */
const char *buf_cstr(struct buf *b);

/* Hands the bytes over as a malloc'ed, NUL-terminated string, and empties the buffer.
 * NULL when poisoned. */
char *buf_steal(struct buf *b, size_t *len_p);

#endif
