/* pmix_fill.h - random PMIx items of any type, driven by the codec's own descriptors.
 *
 * For round trips, differential tests and benchmarks.  Everything is malloc'ed; pmem_free releases
 * it.  The same seed gives the same items.
 */
#ifndef WIREUP_TESTS_PMIX_FILL_H
#define WIREUP_TESTS_PMIX_FILL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "wire/pmix_types.h"

struct fill {
    uint64_t state;
    unsigned depth;                                     /* how deep values may still nest */
    const struct ptype_flavour *as;                     /* only types that it knows */
    bool (*skip)(const struct ptype *t, bool in_value); /* may be NULL */
    bool no_types;                                      /* data types as fields are 0 */
    struct slice input;                                 /* decides before the seed does */
};

static void fill_item(struct fill *f, const struct ptype *t, void *item);

static uint64_t fill_next(struct fill *f)
{
    uint64_t z;

    if (f->input.len >= sizeof z) {
        memcpy(&z, f->input.ptr, sizeof z);
        f->input = slice_skip(f->input, sizeof z);
        return z;
    }
    z = f->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t fill_below(struct fill *f, size_t n)
{
    return (size_t)(fill_next(f) % n);
}

/* Every length of number is as likely as every other. */
static uint64_t fill_number(struct fill *f)
{
    return fill_next(f) >> fill_below(f, 64);
}

static void *fill_take(size_t n)
{
    void *mem = calloc(1, n ? n : 1);

    if (!mem)
        abort();
    return mem;
}

static char *fill_text(struct fill *f, size_t most)
{
    size_t n = fill_below(f, fill_below(f, 20) ? 12 : most);
    char *text = fill_take(n + 1);

    for (size_t i = 0; i < n; i++)
        text[i] = (char)(1 + fill_below(f, 255));
    return text;
}

static char *fill_regex(struct fill *f)
{
    char *text = fill_take(64);

    snprintf(text, 64, "raw:n%zu,n%zu", fill_below(f, 1000), fill_below(f, 1000));
    return text;
}

static double fill_float(struct fill *f, bool single)
{
    uint64_t bits = fill_next(f);
    double v = (double)(int64_t)fill_number(f) / 1e6;
    float half;

    if (fill_below(f, 4) == 0) /* any magnitude */
        memcpy(&v, &bits, sizeof v);
    if (single) {
        half = (float)v;
        v = (double)half;
    }
    return v != v ? 0.5 : v;
}

static bool fill_allowed(struct fill *f, const struct ptype *t, bool in_value)
{
    const uint8_t op = t->fields ? t->fields->op : PTYPE_NONE;

    if (!t->fields || !ptype_known(f->as, t) || op == PTYPE_CPUSET || op == PTYPE_TOPO)
        return false;
    if (in_value && t->place == PTYPE_NOWHERE)
        return false;
    if (f->depth == 0 &&
        (t->number == PMIX_DATA_ARRAY || t->number == PMIX_VALUE || t->number == PMIX_INFO ||
         t->number == PMIX_QUERY || t->number == PMIX_APP || t->number == PMIX_PDATA))
        return false;
    return !f->skip || !f->skip(t, in_value);
}

static const struct ptype *fill_any_type(struct fill *f, bool in_value)
{
    for (;;) {
        const struct ptype *t = &ptype_table[fill_below(f, PTYPE_NUMBERS)];
        if (fill_allowed(f, t, in_value))
            return t;
    }
}

static void *fill_list(struct fill *f, const struct ptype *t, size_t n)
{
    char *items = fill_take(n * t->size);

    for (size_t i = 0; i < n; i++)
        fill_item(f, t, items + i * t->size);
    return items;
}

static void fill_array(struct fill *f, pmix_data_array_t *a)
{
    const struct ptype *t;

    if (f->depth)
        f->depth--;
    t = fill_any_type(f, false);
    a->type = t->number;
    a->size = fill_below(f, 4);
    a->array = a->size ? fill_list(f, t, a->size) : NULL;
    f->depth++;
}

static void fill_value(struct fill *f, pmix_value_t *v)
{
    const struct ptype *t;

    if (f->depth)
        f->depth--;
    t = fill_any_type(f, true);
    v->type = t->number;
    if (t->place == PTYPE_POINTER) {
        v->data.ptr = fill_take(t->size);
        fill_item(f, t, v->data.ptr);
    } else {
        fill_item(f, t, &v->data);
    }
    if (v->type == PMIX_REGEX)
        v->data.bo.size = strlen(v->data.bo.bytes) + 1;
    f->depth++;
}

static char **fill_argv(struct fill *f)
{
    size_t n = fill_below(f, 4);
    char **argv = n ? fill_take((n + 1) * sizeof *argv) : NULL;

    for (size_t i = 0; i < n; i++)
        argv[i] = fill_text(f, 100);
    return argv;
}

static void fill_dbuf(struct fill *f, pmix_data_buffer_t *b)
{
    size_t n = 1 + fill_below(f, 20);

    b->base_ptr = b->unpack_ptr = fill_take(n);
    b->pack_ptr = b->base_ptr + n;
    b->bytes_allocated = b->bytes_used = n;
}

#define FILL(ctype, v)                                                                             \
    do {                                                                                           \
        *(ctype *)(void *)at = (ctype)(v);                                                         \
    } while (0)

static void fill_field(struct fill *f, const struct ptype_field *field, char *obj)
{
    char *at = obj + field->offset;
    uint64_t n = fill_number(f);

    switch (field->op) {
    case PTYPE_BYTE: FILL(uint8_t, n); break;
    case PTYPE_BOOL: FILL(bool, n & 1); break;
    case PTYPE_I16:
    case PTYPE_U16: FILL(uint16_t, f->no_types && field->elem == PMIX_DATA_TYPE ? 0 : n); break;
    case PTYPE_I32:
    case PTYPE_U32:
    case PTYPE_INT:
    case PTYPE_PID: FILL(uint32_t, n); break;
    case PTYPE_FLAGS: FILL(uint32_t, n & PTYPE_FLAGS_SENT); break;
    case PTYPE_I64:
    case PTYPE_U64: FILL(uint64_t, n); break;
    case PTYPE_SIZE: FILL(size_t, n); break;
    case PTYPE_FLT: FILL(float, fill_float(f, true)); break;
    case PTYPE_DBL: FILL(double, fill_float(f, false)); break;
    case PTYPE_TIMEVAL:
        *(struct timeval *)(void *)at = (struct timeval){ (time_t)n, (suseconds_t)fill_number(f) };
        break;
    case PTYPE_STR: FILL(char *, fill_below(f, 10) ? fill_text(f, 300) : NULL); break;
    case PTYPE_REGEX: FILL(char *, fill_regex(f)); break;
    case PTYPE_TEXT: {
        char *text = fill_text(f, field->size);
        memcpy(at, text, strlen(text));
        free(text);
        break;
    }
    case PTYPE_ARGV:
    case PTYPE_ARGC: FILL(char **, fill_argv(f)); break;
    case PTYPE_LIST: {
        size_t count = fill_below(f, 3);
        const struct ptype *t = ptype_find(field->elem);
        if (!fill_allowed(f, t, false))
            count = 0;
        FILL(void *, count ? fill_list(f, t, count) : NULL);
        *(size_t *)(void *)(obj + field->count) = count;
        break;
    }
    case PTYPE_NEST: fill_item(f, ptype_find(field->elem), at); break;
    case PTYPE_VALUE: fill_value(f, (void *)at); break;
    case PTYPE_ARRAY: fill_array(f, (void *)at); break;
    case PTYPE_DBUF: fill_dbuf(f, (void *)at); break;
    default: break;
    }
}

/* Into zeroed memory. */
static void fill_item(struct fill *f, const struct ptype *t, void *item)
{
    for (size_t i = 0; i < t->nfields; i++)
        if (!t->fields[i].local)
            fill_field(f, &t->fields[i], item);
    if (t->number == PMIX_INFO) /* who owns the value does not travel */
        ((pmix_info_t *)item)->flags &= ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
}

#endif
