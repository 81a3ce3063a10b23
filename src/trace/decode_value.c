/* decode_value.c - PMIx items in memory as fields for people: one walk over the descriptors of
 * wire/pmix_types.h.
 *
 * A process is a text ("job.3", "job.*"), bytes are bytes, a struct is a group, an array a list;
 * infos are keys with their values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/decode_priv.h"
#include "wire/pmix_float.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_types.h"

/* ---- texts and bytes ------------------------------------------------------------------------- */

static bool put_copy(struct decode *d, struct slice name, enum decode_kind kind, struct slice bytes)
{
    struct slice copy = bytes.len ? arena_copy(&d->arena, bytes) : SLICE_NULL;

    return (copy.len == bytes.len || d->full) &&
           decode_add(d, (struct decode_field){ .name = name, .kind = kind, .text = copy });
}

static bool put_null(struct decode *d, struct slice name)
{
    return decode_add(d, (struct decode_field){ .name = name, .kind = DECODE_NULL });
}

static bool put_str(struct decode *d, struct slice name, const char *text)
{
    return text ? put_copy(d, name, DECODE_TEXT, slice_str(text)) : put_null(d, name);
}

static bool put_proc(struct decode *d, struct slice name, const pmix_proc_t *p)
{
    char text[PMIX_MAX_NSLEN + 16];
    int n = snprintf(text, sizeof text, "%.*s.", PMIX_MAX_NSLEN, p->nspace);

    if (p->rank == PMIX_RANK_WILDCARD)
        text[n++] = '*';
    else
        n += snprintf(text + n, sizeof text - (size_t)n, "%u", p->rank);
    return put_copy(d, name, DECODE_TEXT, slice_mem(text, (size_t)n));
}

static bool put_argv(struct decode *d, struct slice name, char *const *argv)
{
    bool good = decode_open(d, name, DECODE_LIST);

    for (; argv && *argv && good; argv++)
        good = put_str(d, SLICE_NULL, *argv);
    return good && decode_close(d);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t number_at(const void *at, size_t size)
{
    uint8_t b;
    uint16_t h;
    uint32_t w;
    uint64_t q;

    switch (size) {
    case 1: memcpy(&b, at, 1); return b;
    case 2: memcpy(&h, at, 2); return h;
    case 4: memcpy(&w, at, 4); return w;
    default: memcpy(&q, at, 8); return q;
    }
}

static bool has_sign(uint16_t type)
{
    switch (type) {
    case PMIX_INT:
    case PMIX_INT8:
    case PMIX_INT16:
    case PMIX_INT32:
    case PMIX_INT64:
    case PMIX_PID:
    case PMIX_STATUS: return true;
    default: return false;
    }
}

static bool put_float(struct decode *d, struct slice name, double v)
{
    char text[PFLOAT_MAX];

    return put_copy(d, name, DECODE_TEXT, slice_mem(text, pfloat_put(text, v)));
}

static bool put_timeval(struct decode *d, struct slice name, const struct timeval *t)
{
    char text[48];
    int n = snprintf(text, sizeof text, "%lld.%06ld", (long long)t->tv_sec, (long)t->tv_usec);

    return put_copy(d, name, DECODE_TEXT, slice_mem(text, (size_t)n));
}

static bool put_number(struct decode *d, struct slice name, uint16_t type, const void *at,
                       size_t size)
{
    uint64_t v = number_at(at, size);
    unsigned unused = 64 - 8 * (unsigned)size;
    struct decode_field f = { .name = name, .kind = DECODE_UNSIGNED };

    if (type == PMIX_BOOL)
        f.kind = DECODE_FLAG;
    else if (has_sign(type))
        f.kind = DECODE_NUMBER;
    if (type == PMIX_PROC_RANK && v == PMIX_RANK_WILDCARD)
        return put_str(d, name, "*");
    f.number = has_sign(type) ? (int64_t)(v << unused) >> unused : (int64_t)v;
    return decode_add(d, f);
}

/* ---- items of any type ----------------------------------------------------------------------- */

static bool put_typed(struct decode *d, struct slice name, uint32_t flags, const pmix_value_t *v);

/* "UINT32", or "UINT32[]" of an array. */
static const char *type_name(struct decode *d, const pmix_value_t *v)
{
    const struct ptype *t = ptype_find(v->type), *of;

    if (v->type == PMIX_DATA_ARRAY && v->data.darray) {
        of = ptype_find(v->data.darray->type);
        return arena_printf(&d->arena, "%s[]", of ? of->name : "UNDEF");
    }
    return t ? t->name : "UNDEF";
}

static bool put_array(struct decode *d, struct slice name, const pmix_data_array_t *a)
{
    const struct ptype *t = ptype_find(a->type);

    if (!t)
        return decode_open(d, name, DECODE_LIST) && decode_close(d);
    return decode_put_items(d, name, t, a->array, a->size);
}

static bool put_list(struct decode *d, struct slice name, const struct ptype_field *f,
                     const char *item)
{
    const void *items;
    size_t n;

    memcpy(&items, item + f->offset, sizeof items);
    memcpy(&n, item + f->count, sizeof n);
    return decode_put_items(d, name, ptype_find(f->elem), items, items ? n : 0);
}

static bool put_pointed(struct decode *d, struct slice name, uint8_t op, const char *at)
{
    const char *text;
    char *const *argv;

    if (op == PTYPE_ARGV || op == PTYPE_ARGC) {
        memcpy(&argv, at, sizeof argv);
        return put_argv(d, name, argv);
    }
    memcpy(&text, at, sizeof text);
    if (op == PTYPE_REGEX && text)
        return put_copy(d, name, DECODE_BYTES, slice_mem(text, ptype_regex_size(text)));
    return put_str(d, name, text);
}

static bool put_field(struct decode *d, struct slice name, const struct ptype_field *f,
                      const char *item)
{
    const char *at = item + f->offset;
    const pmix_data_buffer_t *b;

    switch (f->op) {
    case PTYPE_FLT: return put_float(d, name, *(const float *)(const void *)at);
    case PTYPE_DBL: return put_float(d, name, *(const double *)(const void *)at);
    case PTYPE_TIMEVAL: return put_timeval(d, name, (const void *)at);
    case PTYPE_PTR: return put_str(d, name, "an address");
    case PTYPE_STR:
    case PTYPE_REGEX:
    case PTYPE_CPUSET: /* as decode_foreign keeps them: the text is the first member */
    case PTYPE_TOPO:
    case PTYPE_ARGV:
    case PTYPE_ARGC: return put_pointed(d, name, f->op, at);
    case PTYPE_TEXT: return put_str(d, name, at);
    case PTYPE_LIST: return put_list(d, name, f, item);
    case PTYPE_NEST: return decode_put_item(d, name, ptype_find(f->elem), at);
    case PTYPE_VALUE: return put_typed(d, name, 0, (const void *)at);
    case PTYPE_ARRAY: return put_array(d, name, (const void *)at);
    case PTYPE_DBUF:
        b = (const void *)at;
        return put_copy(d, name, DECODE_BYTES, slice_mem(b->base_ptr, b->bytes_used));
    default: return put_number(d, name, f->elem, at, f->size);
    }
}

static bool put_struct(struct decode *d, struct slice name, const struct ptype *t, const char *item)
{
    bool good = decode_open(d, name, DECODE_GROUP);

    for (uint8_t i = 0; i < t->nfields && good; i++) {
        if (!t->fields[i].local)
            good = put_field(d, slice_str(t->fields[i].name), &t->fields[i], item);
    }
    return good && decode_close(d);
}

bool decode_put_item(struct decode *d, struct slice name, const struct ptype *t, const void *item)
{
    const pmix_info_t *info = item;

    if (t->number == PMIX_PROC)
        return put_proc(d, name, item);
    if (t->number == PMIX_INFO && name.len == 0)
        return decode_put_keyed(d, slice_str(info->key), info->flags, &info->value);
    if (t->single || t->nfields == 1)
        return put_field(d, name, &t->fields[0], item);
    return put_struct(d, name, t, item);
}

static bool is_bytes(const struct ptype *t)
{
    return t->number == PMIX_BYTE || t->number == PMIX_UINT8 || t->number == PMIX_INT8;
}

bool decode_put_items(struct decode *d, struct slice name, const struct ptype *t, const void *items,
                      size_t n)
{
    bool good;

    if (is_bytes(t))
        return put_copy(d, name, DECODE_BYTES, slice_mem(items, items ? n : 0));
    good = decode_open(d, name, DECODE_LIST);
    for (size_t i = 0; i < n && items && good && !d->full; i++)
        good = decode_put_item(d, SLICE_NULL, t, (const char *)items + i * t->size);
    return good && decode_close(d);
}

/* The data of a value: in it, or where it points to. */
static bool put_data(struct decode *d, struct slice name, const pmix_value_t *v)
{
    const struct ptype *t = ptype_find(v->type);
    const void *data = &v->data;

    if (t && t->place == PTYPE_POINTER)
        data = v->data.ptr;
    return t && data ? decode_put_item(d, name, t, data) : put_null(d, name);
}

/* A value whose type the message tells. */
static bool put_typed(struct decode *d, struct slice name, uint32_t flags, const pmix_value_t *v)
{
    uint32_t at = d->nfields;
    const char *type = type_name(d, v);

    if (!type || !put_data(d, name, v))
        return false;
    if (at < d->nfields) {
        d->fields[at].type = type;
        d->fields[at].flags = flags;
    }
    return true;
}

static bool put_credential(struct decode *d, struct slice name, const pmix_value_t *v)
{
    struct slice text = SLICE("credential"), copy; /* of a type that no credential has */

    if (v->type == PMIX_STRING && v->data.string)
        text = slice_str(v->data.string);
    else if (v->type == PMIX_BYTE_OBJECT)
        text = slice_mem(v->data.bo.bytes, v->data.bo.size);
    copy = arena_copy(&d->arena, text);
    return copy.len == text.len && decode_add_secret(d, name, copy);
}

bool decode_put_keyed(struct decode *d, struct slice key, uint32_t flags, const pmix_value_t *v)
{
    struct slice name = arena_copy(&d->arena, key);

    if (slice_is(key, PMIX_CREDENTIAL))
        return name.len == key.len && put_credential(d, name, v);
    return name.len == key.len && put_typed(d, name, flags, v);
}

/* ---- without hwloc --------------------------------------------------------------------------- */

static int keep_cpuset(const char *text, pmix_cpuset_t *set)
{
    *set = (pmix_cpuset_t){ .source = strdup(text) };
    return set->source ? PTYPE_FINE : PTYPE_NO_MEMORY;
}

static void free_cpuset(pmix_cpuset_t *set)
{
    free(set->source);
}

static int keep_topo(const char *xml, const void *support, pmix_topology_t *topo)
{
    (void)support;
    *topo = (pmix_topology_t){ .source = strdup(xml) };
    return topo->source ? PTYPE_FINE : PTYPE_NO_MEMORY;
}

static void free_topo(pmix_topology_t *topo)
{
    free(topo->source);
}

/* One flag was added in hwloc 2.4. */
static size_t support_new(void)
{
    return 6 + 11 + 15;
}

static size_t support_old(void)
{
    return 5 + 11 + 15;
}

#define KEEPS_TEXTS(size)                                                                          \
    {                                                                                              \
        .cpuset_parse = keep_cpuset, .cpuset_free = free_cpuset, .topo_parse = keep_topo,          \
        .topo_free = free_topo, .support_size = (size)                                             \
    }

const struct ptype_foreign decode_foreign[DECODE_FOREIGN] = { KEEPS_TEXTS(support_new),
                                                              KEEPS_TEXTS(support_old) };
