/* info_array.c - see info_array.h. */
#include "server/info_array.h"

#include <stdlib.h>
#include <string.h>

#include "server/pmix_value.h"
#include "wire/pmix_mem.h"

void info_array_add(struct info_array *l, const char *key, pmix_value_t v)
{
    if (l->n == l->room) {
        size_t room = l->room ? l->room * 2 : 8;
        pmix_info_t *more = realloc(l->items, room * sizeof *more);
        if (!more) {
            l->no_memory = true;
            pmem_value_free(&v, NULL);
            return;
        }
        l->items = more;
        l->room = room;
    }
    memset(&l->items[l->n], 0, sizeof *l->items);
    strncpy(l->items[l->n].key, key, PMIX_MAX_KEYLEN);
    l->items[l->n++].value = v;
}

void info_array_slice(struct info_array *l, const char *key, struct slice text)
{
    char *copy = strndup(text.len ? text.ptr : "", text.len);

    if (copy)
        info_array_add(l, key, (pmix_value_t){ .type = PMIX_STRING, .data.string = copy });
    else
        l->no_memory = true;
}

void info_array_text(struct info_array *l, const char *key, const char *text)
{
    info_array_slice(l, key, slice_str(text));
}

void info_array_float(struct info_array *l, const char *key, double number)
{
    info_array_add(l, key, (pmix_value_t){ .type = PMIX_FLOAT, .data.fval = (float)number });
}

void info_array_u32(struct info_array *l, const char *key, uint32_t number)
{
    info_array_add(l, key, (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = number });
}

void info_array_u64(struct info_array *l, const char *key, uint64_t number)
{
    info_array_add(l, key, (pmix_value_t){ .type = PMIX_UINT64, .data.uint64 = number });
}

void info_array_proc(struct info_array *l, const char *key, const char *nspace, uint32_t rank)
{
    pmix_proc_t *proc = malloc(sizeof *proc);

    if (!proc) {
        l->no_memory = true;
        return;
    }
    pmix_set_proc(proc, nspace, rank);
    info_array_add(l, key, (pmix_value_t){ .type = PMIX_PROC, .data.proc = proc });
}

void info_array_items(struct info_array *l, const char *key, uint16_t type, void *items, size_t n)
{
    pmix_data_array_t *a = items || n == 0 ? calloc(1, sizeof *a) : NULL;

    if (!a) {
        l->no_memory = true;
        if (items)
            pmem_free(ptype_find(type), items, n, NULL);
        free(items);
        return;
    }
    *a = (pmix_data_array_t){ .type = type, .array = items, .size = n };
    info_array_add(l, key, (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a });
}

void info_array_infos(struct info_array *l, const char *key, struct info_array *inner)
{
    l->no_memory = l->no_memory || inner->no_memory;
    info_array_items(l, key, PMIX_INFO, inner->items, inner->n);
    *inner = (struct info_array){ .items = NULL };
}

void info_array_copy(struct info_array *l, const char *key, const pmix_value_t *v)
{
    pmix_value_t copy;

    if (pmem_copy(ptype_find(PMIX_VALUE), &copy, v, 1, NULL) == PTYPE_FINE)
        info_array_add(l, key, copy);
    else
        l->no_memory = true;
}

void info_array_free(struct info_array *l)
{
    pmix_drop_infos(l->items, l->n);
    *l = (struct info_array){ .items = NULL };
}

const pmix_value_t *info_find(const pmix_info_t *infos, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, key))
            return &infos[i].value;
    }
    return NULL;
}

static const char *text_of(const pmix_value_t *v)
{
    return v && v->type == PMIX_STRING ? v->data.string : NULL;
}

const char *info_find_text(const pmix_info_t *infos, size_t n, const char *key)
{
    return text_of(info_find(infos, n, key));
}

const pmix_value_t *info_inside(const pmix_info_t *info, const char *key)
{
    const pmix_data_array_t *a =
        info->value.type == PMIX_DATA_ARRAY ? info->value.data.darray : NULL;

    return a && a->type == PMIX_INFO ? info_find(a->array, a->size, key) : NULL;
}

const char *info_inside_text(const pmix_info_t *info, const char *key)
{
    return text_of(info_inside(info, key));
}
