/* alloc.c - see alloc.h. */
#include "tests/alloc.h"

#include <malloc.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

static int64_t live;
static size_t bytes, peak;
static uint64_t requests, failing;
static bool all_later;
static int paused;

int64_t alloc_live(void)
{
    return live;
}

size_t alloc_bytes(void)
{
    return bytes;
}

size_t alloc_peak(void)
{
    return peak;
}

void alloc_peak_reset(void)
{
    peak = bytes;
}

uint64_t alloc_count(void)
{
    return requests;
}

void alloc_fail(uint64_t nth, bool on)
{
    requests = 0;
    failing = nth;
    all_later = on;
}

void alloc_pause(bool begin)
{
    paused += begin ? 1 : -1;
}

static bool is_refused(void)
{
    if (paused)
        return false;
    requests++;
    return failing && (requests == failing || (all_later && requests > failing));
}

static void add_bytes(void *p)
{
    bytes += malloc_usable_size(p);
    if (bytes > peak)
        peak = bytes;
}

static void *counted(void *p)
{
    live += p != NULL;
    add_bytes(p);
    return p;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
int __real_vasprintf(char **text_p, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_vasprintf(char **text_p, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
int __wrap_asprintf(char **text_p, const char *format, ...) __attribute__((format(printf, 2, 3)));

void *__wrap_malloc(size_t n)
{
    return is_refused() ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t count, size_t n)
{
    return is_refused() ? NULL : counted(__real_calloc(count, n));
}

void *__wrap_realloc(void *p, size_t n)
{
    size_t before = malloc_usable_size(p);
    void *more = is_refused() ? NULL : __real_realloc(p, n);

    live += more && !p;
    if (more) {
        bytes -= before;
        add_bytes(more);
    }
    return more;
}

void __wrap_free(void *p)
{
    live -= p != NULL;
    bytes -= malloc_usable_size(p);
    __real_free(p);
}

char *__wrap_strdup(const char *s)
{
    return is_refused() ? NULL : counted(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
    return is_refused() ? NULL : counted(__real_strndup(s, n));
}

int __wrap_vasprintf(char **text_p, const char *format, va_list args)
{
    int n = is_refused() ? -1 : __real_vasprintf(text_p, format, args);

    live += n >= 0;
    if (n >= 0)
        add_bytes(*text_p);
    return n;
}

int __wrap_asprintf(char **text_p, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = __wrap_vasprintf(text_p, format, args);
    va_end(args);
    return n;
}
