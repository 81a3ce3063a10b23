/* value.c - loading, unloading, copying and releasing values.
 *
 * A failed load or copy leaves an empty value, which may be destructed: callers of the old macros
 * never see the status.
 */

#include "lib/pmix/values/value.h"
#include "wire/pmix_truth.h"

#define SIZE_NONE(ctype)    0
#define SIZE_FLAT(ctype)    sizeof(ctype)
#define SIZE_STRING(ctype)  0
#define SIZE_BYTES(ctype)   0
#define SIZE_REGEX(ctype)   0
#define SIZE_ENVAR(ctype)   0
#define SIZE_HEAP(ctype)    0
#define SIZE_POINTER(ctype) 0

const struct value_form value_forms[PTYPE_NUMBERS] = {
#define TYPE(name, number, ctype, member, shape, state)                                            \
    [number] = { SHAPE_##shape, SIZE_##shape(ctype) },
#include "proto/pmix_types.def"
#undef TYPE
};

static const pmix_value_t empty = PMIX_VALUE_STATIC_INIT;

/* A copy of n bytes with a NUL after them: bytes are often printed. */
static inline char *bytes_copy(const char *bytes, size_t n)
{
    char *copy = malloc(n + 1);

    if (copy == NULL)
        return NULL;
    copy[n] = '\0';
    return memcpy(copy, bytes, n);
}

/* Puts a copy of n bytes into an emptied byte object; false without memory. */
static inline bool load_bytes(pmix_byte_object_t *bo, const char *bytes, size_t n)
{
    char *copy;

    if (bytes == NULL || n == 0)
        return true;
    copy = bytes_copy(bytes, n);
    if (copy == NULL)
        return false;
    bo->bytes = copy;
    bo->size = n;
    return true;
}

/* ---- Loading -------------------------------------------------------------------------------- */

/* Most values that are neither numbers nor strings are processes. */
static inline pmix_status_t load_proc(pmix_value_t *v, const pmix_proc_t *proc)
{
    pmix_proc_t *copy = malloc(sizeof *copy);

    if (copy == NULL)
        return PMIX_ERR_NOMEM;
    memcpy(copy, proc, sizeof *copy);
    v->data.proc = copy;
    return PMIX_SUCCESS;
}

static pmix_status_t load_heap(pmix_value_t *v, const void *data, pmix_data_type_t type)
{
    const struct ptype *t = ptype_find(type);
    void *copy = malloc(t->size);
    enum ptype_error error = PTYPE_NO_MEMORY;

    if (copy != NULL && type == PMIX_PROC_NSPACE) {
        PMIx_Load_nspace(copy, data); /* callers pass any string, not a full array */
        error = PTYPE_FINE;
    } else if (copy != NULL) {
        error = pmem_copy(t, copy, data, 1, foreign_objects());
    }
    if (error != PTYPE_FINE) {
        free(copy);
        return ptype_status(error, PTYPE_COPYING);
    }
    v->data.ptr = copy;
    return PMIX_SUCCESS;
}

static inline bool load_text(char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return *to != NULL || from == NULL;
}

static pmix_status_t load_envar(pmix_envar_t *to, const pmix_envar_t *from)
{
    to->separator = from->separator;
    if (load_text(&to->envar, from->envar) && load_text(&to->value, from->value))
        return PMIX_SUCCESS;
    free(to->envar);
    return PMIX_ERR_NOMEM;
}

/* The usual widths of numbers are moves, not calls. */
static inline void load_flat(void *to, const void *from, size_t size)
{
    if (size == 4)
        memcpy(to, from, 4);
    else if (size == 8)
        memcpy(to, from, 8);
    else if (size == 1)
        memcpy(to, from, 1);
    else
        memcpy(to, from, size);
}

static inline pmix_status_t load_data(pmix_value_t *v, const void *data, enum shape shape)
{
    const pmix_byte_object_t *bo = data;

    switch (shape) {
    case SHAPE_FLAT: load_flat(&v->data, data, value_forms[v->type].size); return PMIX_SUCCESS;
    case SHAPE_STRING: return load_text(&v->data.string, data) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    case SHAPE_BYTES:
        return load_bytes(&v->data.bo, bo->bytes, bo->size) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    case SHAPE_REGEX:
        return load_bytes(&v->data.bo, data, ptype_regex_size(data)) ? PMIX_SUCCESS
                                                                     : PMIX_ERR_NOMEM;
    case SHAPE_ENVAR: return load_envar(&v->data.envar, data);
    case SHAPE_HEAP: return v->type == PMIX_PROC ? load_proc(v, data) : load_heap(v, data, v->type);
    case SHAPE_POINTER: memcpy(&v->data.ptr, &data, sizeof data); return PMIX_SUCCESS;
    case SHAPE_NONE: break;
    }
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
}

pmix_status_t PMIx_Value_load(pmix_value_t *val, const void *data, pmix_data_type_t type)
{
    enum shape shape = value_shape(type);
    pmix_status_t rc;

    if (val == NULL)
        return PMIX_ERR_BAD_PARAM;
    *val = (pmix_value_t){ .type = shape != SHAPE_NONE ? type : PMIX_UNDEF };
    if (shape == SHAPE_FLAT && data != NULL) { /* most of them */
        load_flat(&val->data, data, value_forms[type].size);
        return PMIX_SUCCESS;
    }
    if (shape == SHAPE_NONE)
        return type == PMIX_UNDEF ? PMIX_SUCCESS : PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (data == NULL) {
        val->data.flag = type == PMIX_BOOL; /* a flag without data is true */
        return PMIX_SUCCESS;
    }
    rc = load_data(val, data, shape);
    if (rc != PMIX_SUCCESS)
        *val = empty;
    return rc;
}

/* ---- Releasing ------------------------------------------------------------------------------ */

static void release_heap(pmix_value_t *v)
{
    if (v->data.ptr != NULL && v->type != PMIX_PROC_NSPACE)
        pmem_release(ptype_find(v->type), v->data.ptr, 1, foreign_objects());
    free(v->data.ptr);
}

/* Numbers own nothing: checked before anything else. */
static inline void release(pmix_value_t *v)
{
    enum shape shape = value_shape(v->type);

    if (shape == SHAPE_FLAT)
        return;
    if (v->type == PMIX_PROC) { /* those hold no pointers */
        free(v->data.proc);
        return;
    }
    switch (shape) {
    case SHAPE_STRING: free(v->data.string); break;
    case SHAPE_REGEX:
    case SHAPE_BYTES: free(v->data.bo.bytes); break;
    case SHAPE_ENVAR:
        free(v->data.envar.envar);
        free(v->data.envar.value);
        break;
    case SHAPE_HEAP: release_heap(v); break;
    case SHAPE_NONE:
    case SHAPE_FLAT:
    case SHAPE_POINTER: break;
    }
}

void value_release(pmix_value_t *v)
{
    release(v);
}

void PMIx_Value_destruct(pmix_value_t *val)
{
    if (val == NULL)
        return;
    release(val);
    *val = (pmix_value_t){ .type = PMIX_UNDEF };
}

/* ---- Copying -------------------------------------------------------------------------------- */

static inline pmix_status_t copy(pmix_value_t *dest, const pmix_value_t *src)
{
    enum shape shape = value_shape(src->type);
    pmix_status_t rc = PMIX_SUCCESS;

    if (shape == SHAPE_FLAT || shape == SHAPE_POINTER) { /* most of them */
        *dest = *src;
        return PMIX_SUCCESS;
    }
    if (src->type == PMIX_PROC && src->data.proc != NULL) {
        dest->type = PMIX_PROC;
        rc = load_proc(dest, src->data.proc);
        if (rc != PMIX_SUCCESS)
            *dest = empty;
        return rc;
    }
    *dest = (pmix_value_t){ .type = shape != SHAPE_NONE ? src->type : PMIX_UNDEF };
    switch (shape) {
    case SHAPE_STRING:
        if (!load_text(&dest->data.string, src->data.string))
            rc = PMIX_ERR_NOMEM;
        break;
    case SHAPE_BYTES:
    case SHAPE_REGEX:
        if (!load_bytes(&dest->data.bo, src->data.bo.bytes, src->data.bo.size))
            rc = PMIX_ERR_NOMEM;
        break;
    case SHAPE_ENVAR: rc = load_envar(&dest->data.envar, &src->data.envar); break;
    case SHAPE_HEAP:
        if (src->data.ptr != NULL)
            rc = load_heap(dest, src->data.ptr, src->type);
        break;
    default: return src->type == PMIX_UNDEF ? PMIX_SUCCESS : PMIX_ERROR;
    }
    if (rc != PMIX_SUCCESS)
        *dest = empty;
    return rc;
}

pmix_status_t value_copy(pmix_value_t *dest, const pmix_value_t *src)
{
    return copy(dest, src);
}

pmix_status_t PMIx_Value_xfer(pmix_value_t *dest, const pmix_value_t *src)
{
    if (dest == NULL || src == NULL)
        return PMIX_ERR_BAD_PARAM;
    return copy(dest, src);
}

/* ---- Unloading ------------------------------------------------------------------------------ */

/* Copies into the caller's memory, or into new memory if the caller has passed none. */
static inline pmix_status_t give(void **data, size_t *sz, const void *from, size_t n)
{
    if (*data == NULL && (*data = malloc(n)) == NULL)
        return PMIX_ERR_NOMEM;
    load_flat(*data, from, n);
    *sz = n;
    return PMIX_SUCCESS;
}

/* A new copy, whatever *data was. */
static pmix_status_t give_new(void **data, size_t *sz, const char *from, size_t n, size_t size)
{
    char *copy = NULL;

    if (from != NULL && n > 0 && (copy = bytes_copy(from, n)) == NULL)
        return PMIX_ERR_NOMEM;
    *data = copy;
    *sz = copy != NULL ? size : 0;
    return PMIX_SUCCESS;
}

/* A new structure with all that it refers to. */
static pmix_status_t give_struct(void **data, size_t *sz, const void *from, pmix_data_type_t type)
{
    pmix_value_t copy = { .type = type };
    pmix_status_t rc = load_heap(&copy, from, type);

    if (rc == PMIX_SUCCESS) {
        *data = copy.data.ptr;
        *sz = ptype_find(type)->size;
    }
    return rc;
}

static pmix_status_t unload_heap(const pmix_value_t *val, void **data, size_t *sz)
{
    pmix_status_t rc;

    if (val->data.ptr == NULL) {
        *data = NULL;
        *sz = 0;
        return PMIX_SUCCESS;
    }
    if (val->type == PMIX_PROC)
        return give(data, sz, val->data.proc, sizeof(pmix_proc_t));
    if (val->type == PMIX_PROC_NSPACE) {
        rc = give(data, sz, val->data.nspace, sizeof(pmix_nspace_t));
        if (rc == PMIX_SUCCESS)
            *sz = pmix_nslen(*val->data.nspace);
        return rc;
    }
    return give_struct(data, sz, val->data.ptr, val->type);
}

pmix_status_t PMIx_Value_unload(pmix_value_t *val, void **data, size_t *sz)
{
    enum shape shape;

    if (val == NULL || data == NULL || sz == NULL)
        return PMIX_ERR_BAD_PARAM;
    shape = value_shape(val->type);
    if (shape == SHAPE_FLAT) /* most of them */
        return give(data, sz, &val->data, value_forms[val->type].size);
    switch (shape) {
    case SHAPE_STRING: {
        const char *text = val->data.string;
        size_t n = text != NULL ? strlen(text) : 0;
        return give_new(data, sz, text, n + (text != NULL), n);
    }
    case SHAPE_BYTES:
    case SHAPE_REGEX:
        return give_new(data, sz, val->data.bo.bytes, val->data.bo.size, val->data.bo.size);
    case SHAPE_ENVAR: return give_struct(data, sz, &val->data.envar, PMIX_ENVAR);
    case SHAPE_HEAP: return unload_heap(val, data, sz);
    case SHAPE_POINTER:
        *data = val->data.ptr;
        *sz = sizeof(void *);
        return PMIX_SUCCESS;
    case SHAPE_FLAT:
    case SHAPE_NONE: break;
    }
    return PMIX_ERR_UNKNOWN_DATA_TYPE;
}

/* ---- Truth ---------------------------------------------------------------------------------- */

pmix_boolean_t PMIx_Value_true(const pmix_value_t *v)
{
    return pmix_truth(v);
}
