/* pmix_mem.c - see pmix_mem.h: copying, releasing and comparing.
 *
 * Copying and releasing are functions made from the tables, one per type, as in pmix_pack.c;
 * comparing, which is not critical for speed, goes through the descriptors.
 *
 * Copying takes the bits of all items first and then replaces the pointers, field by field; a
 * pointer not yet replaced is cleared before anything can fail, so that an incomplete copy never
 * owns data of the original.
 */
#include "wire/pmix_mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "wire/pmix_fields.h"

struct mem_task {
    const struct ptype_foreign *foreign;
    enum ptype_error error;
    unsigned depth;
};

#define AT(ctype, at)   (*(ctype *)(void *)(at))
#define LOOK(ctype, at) (*(ctype const *)(const void *)(at))

static const struct ptype_field *fields_end(const struct ptype *t)
{
    return t->fields + t->nfields;
}

/* --- releasing --- */

/* An info marked persistent does not own its value: that is neither released nor copied. */

static void release(const struct ptype *t, void *items, size_t n,
                    const struct ptype_foreign *foreign);

/* Where an encoding is a constant, nothing of the others may stay in the function. */
#define INLINE static inline __attribute__((always_inline))

static inline void free_argv(char **argv)
{
    for (size_t i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
}

static inline void release_list(const struct ptype *t, void *items, size_t n,
                                const struct ptype_foreign *foreign)
{
    if (items)
        release(t, items, n, foreign);
    free(items);
}

static inline void release_array(pmix_data_array_t *a, const struct ptype_foreign *foreign)
{
    const struct ptype *t = ptype_find(a->type);

    if (t && a->array)
        release(t, a->array, a->size, foreign);
    free(a->array);
}

/* The memory that a value of the rarer types refers to. */
static void release_pointed(pmix_value_t *v, const struct ptype *t,
                            const struct ptype_foreign *foreign)
{
    if (t->place == PTYPE_INLINE) {
        release(t, &v->data, 1, foreign);
    } else if (v->data.ptr) {
        release(t, v->data.ptr, 1, foreign);
        free(v->data.ptr);
    }
}

static inline void release_value(pmix_value_t *v, const struct ptype_foreign *foreign)
{
    const struct ptype *t = ptype_find(v->type);

    if (!t || t->place == PTYPE_NOWHERE || (t->place == PTYPE_INLINE && ptype_flat(t)))
        return;
    if (t->number == PMIX_STRING)
        free(v->data.string);
    else
        release_pointed(v, t, foreign);
}

static void release_cpuset(pmix_cpuset_t *set, const struct ptype_foreign *foreign)
{
    if (foreign)
        foreign->cpuset_free(set);
    else
        free(set->source);
}

static void release_topo(pmix_topology_t *topo, const struct ptype_foreign *foreign)
{
    if (foreign)
        foreign->topo_free(topo);
    else
        free(topo->source);
}

/* The memory owned by one item of any encoding but LIST. */
INLINE void release_one(uint8_t op, uint16_t elem, char *at, const struct ptype_foreign *foreign)
{
    switch (op) {
    case PTYPE_STR:
    case PTYPE_REGEX: free(AT(char *, at)); break;
    case PTYPE_ARGV:
    case PTYPE_ARGC: free_argv(AT(char **, at)); break;
    case PTYPE_NEST: release(ptype_find(elem), at, 1, foreign); break;
    case PTYPE_VALUE: release_value((void *)at, foreign); break;
    case PTYPE_ARRAY: release_array((void *)at, foreign); break;
    case PTYPE_CPUSET: release_cpuset((void *)at, foreign); break;
    case PTYPE_TOPO: release_topo((void *)at, foreign); break;
    case PTYPE_DBUF: free(AT(pmix_data_buffer_t, at).base_ptr); break;
    default: break;
    }
}

#define STRUCT(type)                                                                               \
    static __attribute__((unused)) void release_fields_##type(char *obj,                           \
                                                              const struct ptype_foreign *foreign) \
    {                                                                                              \
        (void)foreign;
#define FIELD(type, kind, member)                                                                  \
    release_one(OP_##kind, ELEM_##kind, obj + offsetof(c_##type, member), foreign);
#define LOCAL FIELD
#define ARRAY(type, kind, member, count)                                                           \
    release_list(ptype_find(ELEM_##kind), AT(void *, obj + offsetof(c_##type, member)),            \
                 AT(size_t, obj + offsetof(c_##type, count)), foreign);
#define END(type) }
#include "proto/pmix_structs.def"
#undef STRUCT
#undef FIELD
#undef LOCAL
#undef ARRAY
#undef END

#define WIRE(name, op, place, first, last)                                                         \
    static void release_item_##name(char *at, const struct ptype_foreign *foreign)                 \
    {                                                                                              \
        (void)foreign;                                                                             \
        release_one(PTYPE_##op, PMIX_##name, at, foreign);                                         \
    }
#define WIRE_STRUCT(name, fields, place, first, last)
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT

typedef void release_item(char *at, const struct ptype_foreign *foreign);

static release_item *const releases[PTYPE_NUMBERS] = {
#define WIRE(name, op, place, first, last)            [PMIX_##name] = release_item_##name,
#define WIRE_STRUCT(name, fields, place, first, last) [PMIX_##name] = release_fields_##fields,
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT
};

static void release_infos(pmix_info_t *infos, size_t n, const struct ptype_foreign *foreign)
{
    for (size_t i = 0; i < n; i++)
        if ((infos[i].flags & PMIX_INFO_PERSISTENT) == 0)
            release_value(&infos[i].value, foreign);
}

/* The memory owned by n items; the items themselves stay untouched: they are about to be freed or
 * wiped. */
static inline void release_items(const struct ptype *t, void *items, size_t n,
                                 const struct ptype_foreign *foreign)
{
    release_item *one = releases[t->number];
    char *obj = items;

    if (ptype_flat(t))
        return;
    if (t->number == PMIX_INFO) {
        release_infos(items, n, foreign);
        return;
    }
    for (size_t i = 0; i < n; i++, obj += t->size)
        one(obj, foreign);
}

static void release(const struct ptype *t, void *items, size_t n,
                    const struct ptype_foreign *foreign)
{
    release_items(t, items, n, foreign);
}

void pmem_release(const struct ptype *t, void *items, size_t n, const struct ptype_foreign *foreign)
{
    if (items)
        release_items(t, items, n, foreign);
}

void pmem_free(const struct ptype *t, void *items, size_t n, const struct ptype_foreign *foreign)
{
    if (!items || !n)
        return;
    release(t, items, n, foreign);
    memset(items, 0, n * t->size);
}

void pmem_array_free(pmix_data_array_t *a, const struct ptype_foreign *foreign)
{
    release_array(a, foreign);
    memset(a, 0, sizeof *a);
}

void pmem_value_free(pmix_value_t *v, const struct ptype_foreign *foreign)
{
    release_value(v, foreign);
    memset(v, 0, sizeof *v);
}

/* --- copying --- */

static void copy_items(struct mem_task *c, const struct ptype *t, char *to, const char *from,
                       size_t n);

static void fail(struct mem_task *c, enum ptype_error error)
{
    if (c->error == PTYPE_FINE)
        c->error = error;
}

static inline void *take(struct mem_task *c, size_t n, size_t size)
{
    void *mem = c->error == PTYPE_FINE && n <= PTRDIFF_MAX / size ? malloc(n * size) : NULL;

    if (!mem)
        fail(c, PTYPE_NO_MEMORY);
    return mem;
}

static inline char *copy_bytes(struct mem_task *c, const char *from, size_t n)
{
    char *copy = c->error == PTYPE_FINE ? malloc(n + 1) : NULL;

    if (!copy) {
        fail(c, PTYPE_NO_MEMORY);
        return NULL;
    }
    memcpy(copy, from, n);
    copy[n] = '\0';
    return copy;
}

static inline char *copy_str(struct mem_task *c, const char *from)
{
    return from ? copy_bytes(c, from, strlen(from)) : NULL;
}

static inline char **copy_argv(struct mem_task *c, char *const *argv)
{
    size_t n = 0;
    char **copy;

    if (!argv)
        return NULL;
    while (argv[n])
        n++;
    copy = take(c, n + 1, sizeof *copy);
    for (size_t i = 0; copy && i <= n; i++) { /* ends at its first NULL, also after an error */
        copy[i] =
            argv[i] && c->error == PTYPE_FINE ? copy_bytes(c, argv[i], strlen(argv[i])) : NULL;
        if (!copy[i])
            break;
    }
    return copy;
}

/* n items in new memory. */
static void *copy_list(struct mem_task *c, const struct ptype *t, const void *from, size_t n)
{
    char *to;

    if (t->number == PMIX_BYTE)
        return copy_bytes(c, from, n);
    to = take(c, n, t->size);
    if (to)
        copy_items(c, t, to, from, n);
    return to;
}

static void copy_array(struct mem_task *c, pmix_data_array_t *to, const pmix_data_array_t *from)
{
    const struct ptype *t = ptype_find(from->type);

    to->array = NULL;
    to->size = 0;
    if (!from->array || !from->size)
        return;
    if (!t) {
        fail(c, PTYPE_UNKNOWN);
    } else if (c->depth == LIMIT_PMIX_DEPTH) {
        fail(c, PTYPE_TOO_DEEP);
    } else {
        c->depth++;
        to->array = copy_list(c, t, from->array, from->size);
        to->size = to->array ? from->size : 0;
        c->depth--;
    }
}

static inline void copy_value(struct mem_task *c, pmix_value_t *to, const pmix_value_t *from)
{
    const struct ptype *t = ptype_find(from->type);

    if (t && t->place == PTYPE_INLINE && ptype_flat(t)) {
        *to = *from;
        return;
    }
    *to = (pmix_value_t){ .type = PMIX_UNDEF };
    if (from->type == PMIX_UNDEF)
        return;
    if (!t || t->place == PTYPE_NOWHERE) {
        fail(c, PTYPE_UNKNOWN);
        return;
    }
    if (c->depth == LIMIT_PMIX_DEPTH) {
        fail(c, PTYPE_TOO_DEEP);
        return;
    }
    c->depth++;
    to->type = from->type;
    if (t->number == PMIX_STRING) {
        to->data.string = copy_str(c, from->data.string);
    } else if (t->number == PMIX_REGEX) { /* a byte object here */
        to->data.bo.bytes =
            from->data.bo.bytes ? copy_bytes(c, from->data.bo.bytes, from->data.bo.size) : NULL;
        to->data.bo.size = to->data.bo.bytes ? from->data.bo.size : 0;
    } else if (t->place == PTYPE_INLINE) {
        copy_items(c, t, (char *)&to->data, (const char *)&from->data, 1);
    } else if (from->data.ptr) {
        to->data.ptr = take(c, 1, t->size);
        if (to->data.ptr)
            copy_items(c, t, to->data.ptr, from->data.ptr, 1);
    }
    c->depth--;
}

static void copy_foreign(struct mem_task *c, uint8_t op, char *to, const char *from)
{
    int error = PTYPE_NOT_SUPPORTED;

    if (op == PTYPE_CPUSET) {
        AT(pmix_cpuset_t, to) = (pmix_cpuset_t){ 0 };
        if (!LOOK(pmix_cpuset_t, from).source && !LOOK(pmix_cpuset_t, from).bitmap)
            return;
        if (c->foreign && c->error == PTYPE_FINE)
            error = c->foreign->cpuset_copy((const void *)from, (void *)to);
    } else {
        AT(pmix_topology_t, to) = (pmix_topology_t){ 0 };
        if (!LOOK(pmix_topology_t, from).source && !LOOK(pmix_topology_t, from).topology)
            return;
        if (c->foreign && c->error == PTYPE_FINE)
            error = c->foreign->topo_copy((const void *)from, (void *)to);
    }
    if (error)
        fail(c, (enum ptype_error)error);
}

/* Unread data moves to the front; the reading position stays. */
static void copy_dbuf(struct mem_task *c, pmix_data_buffer_t *to, const pmix_data_buffer_t *from)
{
    size_t n = from->base_ptr ? from->bytes_used : 0;

    memset(to, 0, sizeof *to);
    if (!n)
        return;
    to->base_ptr = copy_bytes(c, from->base_ptr, n);
    if (!to->base_ptr)
        return;
    to->bytes_used = to->bytes_allocated = n;
    to->pack_ptr = to->base_ptr + n;
    to->unpack_ptr = to->base_ptr + (from->unpack_ptr - from->base_ptr);
}

static char *copy_regex(struct mem_task *c, const char *from)
{
    return from ? copy_bytes(c, from, ptype_regex_size(from)) : NULL;
}

/* A list with its count; both are members.  n may be set without items. */
static inline void copy_counted(struct mem_task *c, uint16_t elem, char *to, size_t *count_p,
                                const void *items, size_t n)
{
    if (!items)
        n = 0;
    AT(void *, to) = n ? copy_list(c, ptype_find(elem), items, n) : NULL;
    *count_p = AT(void *, to) ? n : 0;
}

/* One item of any encoding but LIST, whose bits are copied already: its pointers.  It must not keep
 * the original's pointer even after an error. */
INLINE void copy_one(struct mem_task *c, uint8_t op, uint16_t elem, char *to, const char *from)
{
    switch (op) {
    case PTYPE_STR: AT(char *, to) = copy_str(c, LOOK(char *, from)); break;
    case PTYPE_REGEX: AT(char *, to) = copy_regex(c, LOOK(char *, from)); break;
    case PTYPE_ARGV:
    case PTYPE_ARGC: AT(char **, to) = copy_argv(c, LOOK(char **, from)); break;
    case PTYPE_NEST: copy_items(c, ptype_find(elem), to, from, 1); break;
    case PTYPE_VALUE: copy_value(c, (void *)to, (const void *)from); break;
    case PTYPE_ARRAY: copy_array(c, (void *)to, (const void *)from); break;
    case PTYPE_CPUSET:
    case PTYPE_TOPO: copy_foreign(c, op, to, from); break;
    case PTYPE_DBUF: copy_dbuf(c, (void *)to, (const void *)from); break;
    default: break;
    }
}

#define STRUCT(type)                                                                               \
    static __attribute__((unused)) void copy_fields_##type(struct mem_task *c, char *to,           \
                                                           const char *from)                       \
    {                                                                                              \
        (void)c;                                                                                   \
        memcpy(to, from, sizeof(c_##type));
#define FIELD(type, kind, member)                                                                  \
    copy_one(c, OP_##kind, ELEM_##kind, to + offsetof(c_##type, member),                           \
             from + offsetof(c_##type, member));
#define LOCAL FIELD
#define ARRAY(type, kind, member, count)                                                           \
    copy_counted(c, ELEM_##kind, to + offsetof(c_##type, member),                                  \
                 (void *)(to + offsetof(c_##type, count)),                                         \
                 LOOK(void *, from + offsetof(c_##type, member)),                                  \
                 LOOK(size_t, from + offsetof(c_##type, count)));
#define END(type) }
#include "proto/pmix_structs.def"
#undef STRUCT
#undef FIELD
#undef LOCAL
#undef ARRAY
#undef END

#define WIRE(name, op, place, first, last)                                                         \
    static void copy_item_##name(struct mem_task *c, char *to, const char *from)                   \
    {                                                                                              \
        enum { size = sizeof(c_##name) };                                                          \
        memcpy(to, from, size);                                                                    \
        copy_one(c, PTYPE_##op, PMIX_##name, to, from);                                            \
    }
#define WIRE_STRUCT(name, fields, place, first, last)
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT

typedef void copy_item(struct mem_task *c, char *to, const char *from);

static copy_item *const copies[PTYPE_NUMBERS] = {
#define WIRE(name, op, place, first, last)            [PMIX_##name] = copy_item_##name,
#define WIRE_STRUCT(name, fields, place, first, last) [PMIX_##name] = copy_fields_##fields,
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT
};

static void copy_infos(struct mem_task *c, pmix_info_t *to, const pmix_info_t *from, size_t n)
{
    memcpy(to, from, n * sizeof *to);
    for (size_t i = 0; i < n; i++)
        if ((from[i].flags & PMIX_INFO_PERSISTENT) == 0)
            copy_value(c, &to[i].value, &from[i].value);
}

/* Goes on after an error, so that every pointer of the bits is replaced. */
static void copy_items(struct mem_task *c, const struct ptype *t, char *to, const char *from,
                       size_t n)
{
    copy_item *one = copies[t->number];

    if (ptype_flat(t))
        memcpy(to, from, n * t->size);
    else if (t->number == PMIX_INFO) /* they are frequent */
        copy_infos(c, (void *)to, (const void *)from, n);
    else
        for (size_t i = 0; i < n; i++, to += t->size, from += t->size)
            one(c, to, from);
}

enum ptype_error pmem_copy(const struct ptype *t, void *to, const void *from, size_t n,
                           const struct ptype_foreign *foreign)
{
    struct mem_task c = { .foreign = foreign };

    if (ptype_flat(t)) {
        memcpy(to, from, n * t->size);
        return PTYPE_FINE;
    }
    copy_items(&c, t, to, from, n);
    if (c.error != PTYPE_FINE)
        pmem_free(t, to, n, foreign);
    return c.error;
}

/* --- comparing --- */

static bool equal_items(struct mem_task *c, const struct ptype *t, const char *a, const char *b,
                        size_t n);

static bool equal_str(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool equal_bytes(const void *a, size_t n, const void *b, size_t m)
{
    return n == m && (n == 0 || (a && b && memcmp(a, b, n) == 0));
}

static bool equal_argv(char *const *a, char *const *b)
{
    static char *const none[] = { NULL };
    size_t i = 0;

    if (!a)
        a = none;
    if (!b)
        b = none;
    for (; a[i] && b[i]; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return !a[i] && !b[i];
}

static bool equal_list(struct mem_task *c, const struct ptype *t, const void *a, size_t n,
                       const void *b, size_t m)
{
    if (!t || n != m || !n)
        return n == m;
    return a && b && equal_items(c, t, a, b, n);
}

static bool equal_value(struct mem_task *c, const pmix_value_t *a, const pmix_value_t *b)
{
    const struct ptype *t = ptype_find(a->type);

    if (a->type != b->type)
        return false;
    if (!t || t->place == PTYPE_NOWHERE)
        return a->type == PMIX_UNDEF;
    if (t->number == PMIX_REGEX)
        return equal_bytes(a->data.bo.bytes, a->data.bo.size, b->data.bo.bytes, b->data.bo.size);
    if (t->place == PTYPE_INLINE)
        return equal_items(c, t, (const char *)&a->data, (const char *)&b->data, 1);
    if (!a->data.ptr || !b->data.ptr)
        return a->data.ptr == b->data.ptr;
    return equal_items(c, t, a->data.ptr, b->data.ptr, 1);
}

static bool equal_regex(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    return equal_bytes(a, ptype_regex_size(a), b, ptype_regex_size(b));
}

static bool equal_array(struct mem_task *c, const pmix_data_array_t *a, const pmix_data_array_t *b)
{
    return a->type == b->type &&
           equal_list(c, ptype_find(a->type), a->array, a->size, b->array, b->size);
}

static bool equal_topo(const pmix_topology_t *a, const pmix_topology_t *b)
{
    return a->topology == b->topology && equal_str(a->source, b->source);
}

static bool equal_cpuset(struct mem_task *c, const pmix_cpuset_t *a, const pmix_cpuset_t *b)
{
    if (a->bitmap == b->bitmap || !c->foreign)
        return a->bitmap == b->bitmap;
    return c->foreign->cpuset_equal(a, b);
}

static bool equal_one(struct mem_task *c, const struct ptype_field *f, const char *a, const char *b)
{
    const char *at = a + f->offset, *to = b + f->offset;
    const pmix_data_buffer_t *p = (const void *)at, *q = (const void *)to;

    switch (f->op) {
    case PTYPE_TEXT: return strncmp(at, to, f->size) == 0;
    case PTYPE_FLT: return LOOK(float, at) == LOOK(float, to);
    case PTYPE_DBL: return LOOK(double, at) == LOOK(double, to);
    case PTYPE_STR: return equal_str(LOOK(char *, at), LOOK(char *, to));
    case PTYPE_REGEX: return equal_regex(LOOK(char *, at), LOOK(char *, to));
    case PTYPE_ARGV:
    case PTYPE_ARGC: return equal_argv(LOOK(char **, at), LOOK(char **, to));
    case PTYPE_LIST:
        return equal_list(c, ptype_find(f->elem), LOOK(void *, at), LOOK(size_t, a + f->count),
                          LOOK(void *, to), LOOK(size_t, b + f->count));
    case PTYPE_NEST: return equal_items(c, ptype_find(f->elem), at, to, 1);
    case PTYPE_VALUE: return equal_value(c, (const void *)at, (const void *)to);
    case PTYPE_ARRAY: return equal_array(c, (const void *)at, (const void *)to);
    case PTYPE_CPUSET: return equal_cpuset(c, (const void *)at, (const void *)to);
    case PTYPE_TOPO: return equal_topo((const void *)at, (const void *)to);
    case PTYPE_DBUF: return equal_bytes(p->base_ptr, p->bytes_used, q->base_ptr, q->bytes_used);
    default: return memcmp(at, to, f->size) == 0;
    }
}

static bool equal_items(struct mem_task *c, const struct ptype *t, const char *a, const char *b,
                        size_t n)
{
    for (size_t i = 0; i < n; i++, a += t->size, b += t->size)
        for (const struct ptype_field *f = t->fields; f < fields_end(t); f++)
            if (!equal_one(c, f, a, b))
                return false;
    return true;
}

bool pmem_equal(const struct ptype *t, const void *a, const void *b,
                const struct ptype_foreign *foreign)
{
    struct mem_task c = { .foreign = foreign };

    return equal_items(&c, t, a, b, 1);
}
