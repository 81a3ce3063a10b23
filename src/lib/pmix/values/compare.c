/* compare.c - the order of two values, and the memory that one holds.
 *
 * Both walk over the descriptors of wire/pmix_types.h.  Numbers compare as numbers, strings as
 * strcmp, bytes and arrays by length first, structures member by member in the order in which they
 * are packed.
 */
#include "lib/pmix/values/value.h"

#define LOOK(ctype, at) (*(ctype const *)(const void *)(at))

/* An order, or one of the results for values without one. */
typedef pmix_value_cmp_t order;

static order order_of(bool less, bool greater)
{
    return greater ? PMIX_VALUE1_GREATER : less ? PMIX_VALUE2_GREATER : PMIX_EQUAL;
}

#define ORDER(a, b) order_of((a) < (b), (a) > (b))

static order order_items(const struct ptype *t, const char *a, const char *b, size_t n);
static order order_value(const pmix_value_t *a, const pmix_value_t *b);

static inline order order_text(const char *a, const char *b)
{
    int cmp;

    if (a == NULL || b == NULL)
        return order_of(a == NULL && b != NULL, a != NULL && b == NULL);
    cmp = strcmp(a, b);
    return cmp == 0 ? PMIX_EQUAL : ORDER(cmp, 0);
}

static inline order order_bytes(const void *a, size_t n, const void *b, size_t m)
{
    int cmp;

    if (n != m || n == 0)
        return ORDER(n, m);
    cmp = memcmp(a, b, n);
    return cmp == 0 ? PMIX_EQUAL : ORDER(cmp, 0);
}

static order order_argv(char *const *a, char *const *b)
{
    order o = PMIX_EQUAL;

    if (a == NULL || b == NULL)
        return order_of(a == NULL && b != NULL, a != NULL && b == NULL);
    for (; o == PMIX_EQUAL && (*a != NULL || *b != NULL); a++, b++) {
        o = order_text(*a, *b);
        if (*a == NULL || *b == NULL)
            break;
    }
    return o;
}

static order order_list(const struct ptype *t, const void *a, size_t n, const void *b, size_t m)
{
    if (n != m || n == 0 || a == NULL || b == NULL)
        return ORDER(n, m);
    /* Bytes take one call, and so do equal numbers. */
    if (t->number == PMIX_BYTE)
        return order_bytes(a, n, b, n);
    if (ptype_flat(t) && memcmp(a, b, n * t->size) == 0)
        return PMIX_EQUAL;
    return order_items(t, a, b, n);
}

static order order_array(const pmix_data_array_t *a, const pmix_data_array_t *b)
{
    const struct ptype *t = ptype_find(a->type);

    if (a->type != b->type)
        return PMIX_VALUE_TYPE_DIFFERENT;
    if (t == NULL)
        return a->size == 0 && b->size == 0 ? PMIX_EQUAL : PMIX_VALUE_COMPARISON_NOT_AVAIL;
    return order_list(t, a->array, a->size, b->array, b->size);
}

/* For types that can be equal or not, but have no order. */
static order order_foreign(const struct ptype_field *f, const char *a, const char *b)
{
    const struct ptype *t = ptype_find(f->op == PTYPE_TOPO ? PMIX_TOPO : PMIX_PROC_CPUSET);

    return pmem_equal(t, a, b, foreign_objects()) ? PMIX_EQUAL : PMIX_VALUE_INCOMPATIBLE_OBJECTS;
}

static order order_time(const struct timeval *a, const struct timeval *b)
{
    return a->tv_sec != b->tv_sec ? ORDER(a->tv_sec, b->tv_sec) : ORDER(a->tv_usec, b->tv_usec);
}

#define AS(ctype) ORDER(LOOK(ctype, a), LOOK(ctype, b))

static order order_flat(const struct ptype_field *f, const char *a, const char *b)
{
    switch (f->op) {
    case PTYPE_BYTE: return f->elem == PMIX_INT8 ? AS(int8_t) : AS(uint8_t);
    case PTYPE_BOOL: return AS(bool);
    case PTYPE_I16: return AS(int16_t);
    case PTYPE_U16: return AS(uint16_t);
    case PTYPE_I32: return AS(int32_t);
    case PTYPE_U32: return AS(uint32_t);
    case PTYPE_I64: return AS(int64_t);
    case PTYPE_U64: return f->elem == PMIX_TIME ? AS(time_t) : AS(uint64_t);
    case PTYPE_INT: return f->elem == PMIX_UINT ? AS(unsigned) : AS(int);
    case PTYPE_SIZE: return AS(size_t);
    case PTYPE_PID: return AS(pid_t);
    case PTYPE_FLT: return AS(float);
    case PTYPE_DBL: return AS(double);
    case PTYPE_TIMEVAL: return order_time((const void *)a, (const void *)b);
    default: return order_bytes(a, f->size, b, f->size);
    }
}

static order order_field(const struct ptype_field *f, const char *obj_a, const char *obj_b)
{
    const char *a = obj_a + f->offset, *b = obj_b + f->offset;
    const pmix_data_buffer_t *p = (const void *)a, *q = (const void *)b;

    switch (f->op) {
    case PTYPE_STR: return order_text(LOOK(char *, a), LOOK(char *, b));
    case PTYPE_TEXT: return ORDER(strncmp(a, b, f->size), 0);
    case PTYPE_ARGV:
    case PTYPE_ARGC: return order_argv(LOOK(char **, a), LOOK(char **, b));
    case PTYPE_LIST:
        return order_list(ptype_find(f->elem), LOOK(void *, a), LOOK(size_t, obj_a + f->count),
                          LOOK(void *, b), LOOK(size_t, obj_b + f->count));
    case PTYPE_NEST: return order_items(ptype_find(f->elem), a, b, 1);
    case PTYPE_VALUE: return order_value((const void *)a, (const void *)b);
    case PTYPE_ARRAY: return order_array((const void *)a, (const void *)b);
    case PTYPE_REGEX: return order_text(LOOK(char *, a), LOOK(char *, b));
    case PTYPE_CPUSET:
    case PTYPE_TOPO: return order_foreign(f, a, b);
    case PTYPE_DBUF: return order_bytes(p->base_ptr, p->bytes_used, q->base_ptr, q->bytes_used);
    case PTYPE_PTR: return AS(uintptr_t);
    default: return order_flat(f, a, b);
    }
}

/* Coordinates of different views or fabrics cannot be compared. */
static bool comparable(const struct ptype *t, const char *a, const char *b)
{
    const pmix_coord_t *ca = (const void *)a, *cb = (const void *)b;
    const pmix_geometry_t *ga = (const void *)a, *gb = (const void *)b;

    if (t->number == PMIX_COORD)
        return ca->view == cb->view;
    return t->number != PMIX_GEOMETRY || ga->fabric == gb->fabric;
}

/* Infos come by the thousand: a fast path, with the same result. */
static order order_info(const pmix_info_t *a, const pmix_info_t *b)
{
    int cmp = strncmp(a->key, b->key, sizeof(pmix_key_t));

    if (cmp != 0)
        return ORDER(cmp, 0);
    return a->flags != b->flags ? ORDER(a->flags, b->flags) : order_value(&a->value, &b->value);
}

static order order_items(const struct ptype *t, const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++, a += t->size, b += t->size) {
        if (t->number == PMIX_INFO) {
            order o = order_info((const void *)a, (const void *)b);
            if (o != PMIX_EQUAL)
                return o;
            continue;
        }
        if (!comparable(t, a, b))
            return PMIX_VALUE_INCOMPATIBLE_OBJECTS;
        for (size_t k = 0; k < t->nfields; k++) {
            order o = order_field(&t->fields[k], a, b);
            if (o != PMIX_EQUAL)
                return o;
        }
    }
    return PMIX_EQUAL;
}

static order order_proc(const pmix_proc_t *a, const pmix_proc_t *b)
{
    int cmp = strncmp(a->nspace, b->nspace, sizeof(pmix_nspace_t));

    return cmp != 0 ? ORDER(cmp, 0) : ORDER(a->rank, b->rank);
}

static order order_envar(const pmix_envar_t *a, const pmix_envar_t *b)
{
    order o = order_text(a->envar, b->envar);

    if (o == PMIX_EQUAL)
        o = order_text(a->value, b->value);
    return o != PMIX_EQUAL ? o : ORDER((uint8_t)a->separator, (uint8_t)b->separator);
}

/* Compares the objects that values point to; an empty one is the smaller. */
static order order_heap(const struct ptype *t, const void *a, const void *b, pmix_data_type_t type)
{
    if (a == NULL || b == NULL)
        return order_of(a == NULL && b != NULL, a != NULL && b == NULL);
    if (type == PMIX_PROC)
        return order_proc(a, b);
    if (type == PMIX_DATA_ARRAY)
        return order_array(a, b);
    return order_items(t, a, b, 1);
}

static order order_value(const pmix_value_t *a, const pmix_value_t *b)
{
    const struct ptype *t = &ptype_table[a->type < PTYPE_NUMBERS ? a->type : 0];

    if (a->type != b->type)
        return PMIX_VALUE_TYPE_DIFFERENT;
    switch (value_shape(a->type)) {
    case SHAPE_FLAT:
        if (t->size <= sizeof(uint64_t) && a->data.uint64 == b->data.uint64)
            return PMIX_EQUAL;
        return order_flat(t->fields, (const char *)&a->data, (const char *)&b->data);
    case SHAPE_STRING: return order_text(a->data.string, b->data.string);
    case SHAPE_BYTES:
    case SHAPE_REGEX:
        return order_bytes(a->data.bo.bytes, a->data.bo.size, b->data.bo.bytes, b->data.bo.size);
    case SHAPE_ENVAR: return order_envar(&a->data.envar, &b->data.envar);
    case SHAPE_HEAP: return order_heap(t, a->data.ptr, b->data.ptr, a->type);
    case SHAPE_POINTER: return ORDER((uintptr_t)a->data.ptr, (uintptr_t)b->data.ptr);
    case SHAPE_NONE: break;
    }
    return a->type == PMIX_UNDEF ? PMIX_EQUAL : PMIX_VALUE_COMPARISON_NOT_AVAIL;
}

pmix_value_cmp_t PMIx_Value_compare(pmix_value_t *v1, pmix_value_t *v2)
{
    if (v1 == NULL || v2 == NULL)
        return v1 == v2 ? PMIX_EQUAL : PMIX_VALUE_COMPARISON_NOT_AVAIL;
    return order_value(v1, v2);
}

/* ---- Size ----------------------------------------------------------------------------------- */

static size_t size_items(const struct ptype *t, const char *items, size_t n);

static size_t size_text(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

static size_t size_argv(char *const *argv)
{
    size_t sum = argv != NULL ? sizeof(char *) : 0;

    for (; argv != NULL && *argv != NULL; argv++)
        sum += sizeof(char *) + size_text(*argv);
    return sum;
}

/* The memory a value refers to, without the value. */
static size_t size_value(const pmix_value_t *v)
{
    const struct ptype *t = ptype_find(v->type);
    enum shape shape = value_shape(v->type);

    if (t == NULL || shape == SHAPE_NONE)
        return 0;
    if (shape == SHAPE_REGEX)
        return sizeof(pmix_byte_object_t) + v->data.bo.size;
    if (shape == SHAPE_STRING)
        return size_text(v->data.string);
    if (shape == SHAPE_HEAP)
        return v->data.ptr != NULL ? size_items(t, v->data.ptr, 1) : 0;
    return size_items(t, (const char *)&v->data, 1);
}

/* The memory one field refers to, without the field. */
static size_t size_field(const struct ptype_field *f, const char *obj)
{
    const char *at = obj + f->offset;
    const pmix_data_array_t *a = (const void *)at;

    switch (f->op) {
    case PTYPE_STR: return size_text(LOOK(char *, at));
    case PTYPE_REGEX: return LOOK(char *, at) != NULL ? ptype_regex_size(LOOK(char *, at)) : 0;
    case PTYPE_ARGV:
    case PTYPE_ARGC: return size_argv(LOOK(char **, at));
    case PTYPE_LIST:
        return LOOK(void *, at) != NULL
                   ? size_items(ptype_find(f->elem), LOOK(void *, at), LOOK(size_t, obj + f->count))
                   : 0;
    case PTYPE_NEST: {
        const struct ptype *t = ptype_find(f->elem);
        return size_items(t, at, 1) - t->size; /* it is embedded */
    }
    case PTYPE_VALUE: return size_value((const void *)at);
    case PTYPE_ARRAY:
        return a->array != NULL && ptype_find(a->type) != NULL
                   ? size_items(ptype_find(a->type), a->array, a->size)
                   : 0;
    case PTYPE_DBUF: return LOOK(pmix_data_buffer_t, at).bytes_used;
    default: return 0;
    }
}

static size_t size_items(const struct ptype *t, const char *items, size_t n)
{
    size_t sum = n * t->size;

    if (ptype_flat(t))
        return sum;
    for (size_t i = 0; i < n; i++, items += t->size)
        for (size_t k = 0; k < t->nfields; k++)
            sum += size_field(&t->fields[k], items);
    return sum;
}

pmix_status_t PMIx_Value_get_size(const pmix_value_t *val, size_t *size)
{
    if (val == NULL || size == NULL)
        return PMIX_ERR_BAD_PARAM;
    *size = 0;
    if (value_shape(val->type) == SHAPE_NONE)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    *size = sizeof *val + size_value(val);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Info_get_size(const pmix_info_t *val, size_t *size)
{
    pmix_status_t rc;

    if (val == NULL || size == NULL)
        return PMIX_ERR_BAD_PARAM;
    rc = PMIx_Value_get_size(&val->value, size);
    if (rc == PMIX_SUCCESS)
        *size += sizeof *val + pmix_keylen(val->key) + 1;
    return rc;
}
