/* slice.h - a run of bytes that somebody else owns.
 *
 * A slice never owns memory and is never NUL-terminated by contract: code that needs a C string
 * copies it (arena_str, str_dup_slice).  The empty slice has len 0 and any ptr, NULL included.
 */
#ifndef WIREUP_BASE_SLICE_H
#define WIREUP_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const char *ptr;
    size_t len;
};

#define SLICE_NULL   ((struct slice){ NULL, 0 })
#define SLICE(text)  ((struct slice){ "" text, sizeof(text) - 1 }) /* of a string literal */
#define SLICE_FMT    "%.*s"
#define SLICE_ARG(s) ((int)(s).len), ((s).ptr ? (s).ptr : "")

/* The bytes of a C string, without its NUL; NULL gives the empty slice. */
static inline struct slice slice_str(const char *text)
{
    return (struct slice){ text, text ? strlen(text) : 0 };
}

static inline struct slice slice_mem(const void *ptr, size_t len)
{
    return (struct slice){ (const char *)ptr, len };
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
    return slice_eq(a, slice_str(text));
}

static inline bool slice_starts(struct slice a, struct slice head)
{
    return a.len >= head.len && (head.len == 0 || memcmp(a.ptr, head.ptr, head.len) == 0);
}

/* The rest after the first n bytes; empty if there are fewer. */
static inline struct slice slice_skip(struct slice a, size_t n)
{
    if (n > a.len)
        n = a.len;
    return (struct slice){ a.ptr ? a.ptr + n : NULL, a.len - n };
}

static inline struct slice slice_head(struct slice a, size_t n)
{
    return (struct slice){ a.ptr, n < a.len ? n : a.len };
}

/* Position of the first byte c, or a.len when there is none. */
size_t slice_find(struct slice a, char c);

/* Cuts *rest at the first byte c: returns the bytes before it and leaves the bytes after it in
 * *rest.  Without a c everything is returned and *rest becomes empty. */
struct slice slice_cut(struct slice *rest, char c);

/* Is that item in "a,b"? */
bool slice_has_item(struct slice list, struct slice item);

/* Without blanks (space, tab, CR) at both ends. */
struct slice slice_trim(struct slice a);

/* <0, 0, >0 as memcmp, shorter first among equal heads. */
int slice_cmp(struct slice a, struct slice b);

/* Decimal numbers.  True only when the whole slice is one number in the range of the type;
 * *value_p is untouched otherwise. */
bool slice_u64(struct slice a, uint64_t *value_p);
bool slice_u32(struct slice a, uint32_t *value_p);
bool slice_i64(struct slice a, int64_t *value_p);

/* The byte that two hexadecimal digits (isxdigit()) mean. */
unsigned char slice_hex_byte(char high, char low);

/* The decimal text of a number, which is written into the memory that is given. */
enum { SLICE_DIGITS_MAX = 20 };
struct slice slice_digits(char memory[SLICE_DIGITS_MAX], uint64_t value);
bool slice_int(struct slice a, int *value_p);

/* 64-bit hash of the bytes (FNV-1a finished by a mixing step), from a caller's seed. */
uint64_t slice_hash(struct slice a, uint64_t seed);

/* How many letters must change to make b of a, roughly; 99: one has more than 32. */
unsigned slice_distance(struct slice a, struct slice b);

#endif
