/* arena.c - see arena.h. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { ARENA_ALIGN = 16, ARENA_FIRST = 1024, ARENA_LARGEST = 1 << 20 };

struct arena_block {
    struct arena_block *older;
    size_t size, used;
    _Alignas(ARENA_ALIGN) char bytes[];
};

void arena_init(struct arena *a, size_t max)
{
    *a = ARENA_NULL(max);
}

void arena_free(struct arena *a)
{
    while (a->blocks) {
        struct arena_block *b = a->blocks;
        a->blocks = b->older;
        free(b);
    }
    *a = ARENA_NULL(a->max);
}

static struct arena_block *add_block(struct arena *a, size_t n)
{
    size_t size = a->blocks ? a->blocks->size * 2 : ARENA_FIRST;
    struct arena_block *b;

    if (size > ARENA_LARGEST)
        size = ARENA_LARGEST;
    if (size < n)
        size = n;
    b = calloc(1, sizeof *b + size);
    if (!b)
        return NULL;
    b->size = size;
    b->older = a->blocks;
    a->blocks = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t n)
{
    struct arena_block *b = a->blocks;
    void *place;

    if (a->failed || n > a->max || a->used > a->max - n) {
        a->failed = true;
        return NULL;
    }
    n = (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (!b || b->size - b->used < n)
        b = add_block(a, n);
    if (!b) {
        a->failed = true;
        return NULL;
    }
    place = b->bytes + b->used;
    b->used += n;
    a->used += n;
    return place;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (size && count > a->max / size) {
        a->failed = true;
        return NULL;
    }
    return arena_alloc(a, count * size);
}

char *arena_str(struct arena *a, struct slice s)
{
    char *copy = s.len < SIZE_MAX ? arena_alloc(a, s.len + 1) : NULL;

    if (copy && s.len)
        memcpy(copy, s.ptr, s.len);
    return copy;
}

struct slice arena_copy(struct arena *a, struct slice s)
{
    char *copy = arena_str(a, s);

    return copy ? slice_mem(copy, s.len) : SLICE_NULL;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    int n;
    char *text;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}
