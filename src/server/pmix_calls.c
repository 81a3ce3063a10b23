/* pmix_calls.c - see pmix_calls.h.  Reading order: the table; types; the check. */
#include "server/pmix_calls.h"

#include <string.h>

#include "server/pmix_value.h"
#include "wire/pmix_truth.h"
#include "wireup_client.h"

/* ---- the table ------------------------------------------------------------------------------- */

#define CALL(id, name, command, others) static const struct pmix_call_attr attrs_##id[] = {
#define ATTR(key, type)                 { #key, key, type, PMIX_ATTR_HONOURED, false },
#define GROUP(key)                      { #key, key, PMIX_DATA_ARRAY, PMIX_ATTR_HONOURED, true },
#define CARRIED(key, type)              { #key, key, type, PMIX_ATTR_CARRIED, false },
#define REFUSED(key, type, why)         { #key, key, type, PMIX_ATTR_REFUSED, false },
#define IGNORED(key, type, why)         { #key, key, type, PMIX_ATTR_IGNORED, false },
#define END(id)                                                                                    \
    {                                                                                              \
        .class = PMIX_ATTR_IGNORED                                                                 \
    }                                                                                              \
    }                                                                                              \
    ;
/* clang-format off */
#include "proto/pmix_calls.def"

enum {
#define CALL(id, name, command, others) ANSWERED_##id = 0
#define ATTR(key, type) + 1
#define CARRIED(key, type) + 1
#define REFUSED(key, type, why)
#define IGNORED(key, type, why)
#define END(id) ,
#include "proto/pmix_calls.def"
};

/* The last row of each call is its end. */
#define ROWS(id) (sizeof attrs_##id / sizeof *attrs_##id - 1)

const struct pmix_call pmix_calls[PMIX_CALLS] = {
#define CALL(id, name, command, others)                                                            \
    { name, attrs_##id, ANSWERED_##id, ROWS(id), CMD_##command, PMIX_ATTR_##others },
#define ATTR(key, type)
#define CARRIED(key, type)
#define REFUSED(key, type, why)
#define IGNORED(key, type, why)
#define END(id)
#include "proto/pmix_calls.def"
};
/* clang-format on */

const struct pmix_call *pmix_call_of(enum pmix_command command)
{
    for (size_t i = 0; i < PMIX_CALLS; i++) {
        if (pmix_calls[i].command == command && command != CMD_NONE)
            return &pmix_calls[i];
    }
    return NULL;
}

static const struct pmix_call_attr *find(const struct pmix_call *c, const char *key)
{
    for (size_t i = 0; i < c->nrows; i++) {
        if (strcmp(c->attrs[i].key, key) == 0)
            return &c->attrs[i];
    }
    return NULL;
}

/* ---- types ----------------------------------------------------------------------------------- */

enum value_kind { KIND_ITSELF, KIND_ANY, KIND_FLAG, KIND_NUMBER, KIND_REAL };

static enum value_kind kind_of(pmix_data_type_t type)
{
    static const uint8_t kinds[] = {
        [PMIX_UNDEF] = KIND_ANY,       [PMIX_BOOL] = KIND_FLAG,     [PMIX_BYTE] = KIND_NUMBER,
        [PMIX_SIZE] = KIND_NUMBER,     [PMIX_PID] = KIND_NUMBER,    [PMIX_INT] = KIND_NUMBER,
        [PMIX_INT8] = KIND_NUMBER,     [PMIX_INT16] = KIND_NUMBER,  [PMIX_INT32] = KIND_NUMBER,
        [PMIX_INT64] = KIND_NUMBER,    [PMIX_UINT] = KIND_NUMBER,   [PMIX_UINT8] = KIND_NUMBER,
        [PMIX_UINT16] = KIND_NUMBER,   [PMIX_UINT32] = KIND_NUMBER, [PMIX_UINT64] = KIND_NUMBER,
        [PMIX_FLOAT] = KIND_REAL,      [PMIX_DOUBLE] = KIND_REAL,   [PMIX_STATUS] = KIND_NUMBER,
        [PMIX_PROC_RANK] = KIND_NUMBER
    };

    return type < sizeof kinds ? (enum value_kind)kinds[type] : KIND_ITSELF;
}

static bool has_type(pmix_data_type_t type, const pmix_value_t *v)
{
    switch (kind_of(type)) {
    case KIND_ANY: return true;
    case KIND_FLAG: return pmix_truth(v) != PMIX_NON_BOOL;
    case KIND_NUMBER: return kind_of(v->type) == KIND_NUMBER;
    case KIND_REAL: return kind_of(v->type) == KIND_NUMBER || kind_of(v->type) == KIND_REAL;
    default: return v->type == type;
    }
}

static bool fits(const struct pmix_call_attr *a, const pmix_value_t *v)
{
    return has_type(a->type, v) || (a->class == PMIX_ATTR_CARRIED && a->type == PMIX_STRING &&
                                    v->type == PMIX_COMPRESSED_STRING);
}

/* ---- the check ------------------------------------------------------------------------------- */

static enum pmix_attr_class class_of(const struct pmix_call *c, const struct pmix_call_attr *a,
                                     const char *key)
{
    if (a)
        return (enum pmix_attr_class)a->class;
    if (c->others == PMIX_ATTR_DATA && !strncmp(key, "pmix.", 5))
        return PMIX_ATTR_IGNORED; /* attributes are never data, not even those that are unknown */
    return (enum pmix_attr_class)c->others;
}

/* It asks for nothing. */
static bool is_off(const struct pmix_call_attr *a, const pmix_info_t *info)
{
    return a && a->type == PMIX_BOOL && pmix_truth(&info->value) == PMIX_BOOL_FALSE;
}

static pmix_status_t check_all(const struct pmix_call *c, const pmix_info_t *infos, size_t n);

/* Its depth is that of a value, which has a limit if it comes from elsewhere (pmix_value.h). */
static pmix_status_t check_group(const struct pmix_call *c, const pmix_data_array_t *d)
{
    if (!d || !d->size)
        return PMIX_SUCCESS;
    return d->type == PMIX_INFO && d->array ? check_all(c, d->array, d->size) : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t check(const struct pmix_call *c, const pmix_info_t *info)
{
    const struct pmix_call_attr *a = find(c, info->key);
    enum pmix_attr_class class = class_of(c, a, info->key);

    if (info->flags & PMIX_INFO_QUALIFIER) /* it belongs to the key that is asked for */
        return PMIX_SUCCESS;
    if (a && !fits(a, &info->value))
        return PMIX_ERR_BAD_PARAM;
    if ((class == PMIX_ATTR_REFUSED && !is_off(a, info)) ||
        (class == PMIX_ATTR_IGNORED && info->flags & PMIX_INFO_REQD))
        return PMIX_ERR_NOT_SUPPORTED;
    return a && a->is_group ? check_group(c, info->value.data.darray) : PMIX_SUCCESS;
}

static pmix_status_t check_all(const struct pmix_call *c, const pmix_info_t *infos, size_t n)
{
    pmix_status_t status = PMIX_SUCCESS;

    for (size_t i = 0; i < n && status == PMIX_SUCCESS; i++)
        status = check(c, &infos[i]);
    return status;
}

pmix_status_t pmix_call_check(enum pmix_call_id id, const pmix_info_t *infos, size_t n)
{
    return check_all(&pmix_calls[id], infos, n);
}
