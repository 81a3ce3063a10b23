/* info.c - infos (a key, flags, a value) and growing lists of them.
 *
 * A persistent info does not own its value: copies of it share the value, and only its first owner
 * releases it.
 */
#include "lib/pmix/values/value.h"

pmix_status_t PMIx_Info_load(pmix_info_t *info, const char *key, const void *data,
                             pmix_data_type_t type)
{
    if (info == NULL || key == NULL)
        return PMIX_ERR_BAD_PARAM;
    PMIx_Load_key(info->key, key);
    info->flags = 0;
    return PMIx_Value_load(&info->value, data, type);
}

pmix_status_t PMIx_Info_xfer(pmix_info_t *dest, const pmix_info_t *src)
{
    if (dest == NULL || src == NULL)
        return PMIX_ERR_BAD_PARAM;
    memcpy(dest, src, sizeof *dest); /* that is faster than searching for the key's end */
    dest->key[PMIX_MAX_KEYLEN] = '\0';
    if (src->flags & PMIX_INFO_PERSISTENT)
        return PMIX_SUCCESS;
    return value_copy(&dest->value, &src->value);
}

pmix_status_t infos_copy(const pmix_info_t *infos, size_t n, pmix_info_t **copy_p)
{
    pmix_info_t *copy = n ? calloc(n, sizeof *copy) : NULL;
    pmix_status_t rc = n && !copy ? PMIX_ERR_NOMEM : PMIX_SUCCESS;

    for (size_t i = 0; rc == PMIX_SUCCESS && i < n; i++) {
        rc = PMIx_Info_xfer(&copy[i], &infos[i]);
        if (rc != PMIX_SUCCESS)
            infos_release(copy, i);
    }
    if (rc != PMIX_SUCCESS) {
        free(copy);
        copy = NULL;
    }
    *copy_p = copy;
    return rc;
}

pmix_boolean_t PMIx_Info_true(const pmix_info_t *p)
{
    return PMIx_Value_true(&p->value);
}

/* ---- Flags ---------------------------------------------------------------------------------- */

#define SETS(name, flag)                                                                           \
    void PMIx_Info_##name(pmix_info_t *p)                                                          \
    {                                                                                              \
        p->flags |= (flag);                                                                        \
    }
#define HAS_FLAG(name, flag)                                                                       \
    bool PMIx_Info_##name(const pmix_info_t *p)                                                    \
    {                                                                                              \
        return (p->flags & (flag)) != 0;                                                           \
    }

SETS(required, PMIX_INFO_REQD)
SETS(processed, PMIX_INFO_REQD_PROCESSED)
SETS(set_end, PMIX_INFO_ARRAY_END)
SETS(qualifier, PMIX_INFO_QUALIFIER)
SETS(persistent, PMIX_INFO_PERSISTENT)
HAS_FLAG(is_required, PMIX_INFO_REQD)
HAS_FLAG(was_processed, PMIX_INFO_REQD_PROCESSED)
HAS_FLAG(is_end, PMIX_INFO_ARRAY_END)
HAS_FLAG(is_qualifier, PMIX_INFO_QUALIFIER)
HAS_FLAG(is_persistent, PMIX_INFO_PERSISTENT)

void PMIx_Info_optional(pmix_info_t *p)
{
    p->flags &= ~(pmix_info_directives_t)PMIX_INFO_REQD;
}

bool PMIx_Info_is_optional(const pmix_info_t *p)
{
    return !PMIx_Info_is_required(p);
}

/* ---- Lists ---------------------------------------------------------------------------------- */

/* Callers keep pointers to infos of the list and to the places after them, so entries never
 * move.  They are cut from growing blocks, because most lists are built, converted and dropped
 * at once; the first few are in the list itself. */
struct entry {
    struct entry *next;
    pmix_info_t info;
};

enum { LIST_FIRST = 8, BLOCK_FIRST = 16, BLOCK_LAST = 256 };

struct block {
    struct block *next;
    struct entry entries[];
};

struct info_list {
    struct entry *first, **last; /* last: where the next one goes */
    size_t count;
    struct block *blocks; /* newest first */
    struct entry *newest; /* the entries of the newest */
    size_t size, used;    /* of it */
    struct entry begin[LIST_FIRST];
};

void *PMIx_Info_list_start(void)
{
    struct info_list *list = malloc(sizeof *list);

    if (list == NULL)
        return NULL;
    list->first = NULL;
    list->last = &list->first;
    list->count = 0;
    list->blocks = NULL;
    list->newest = list->begin;
    list->size = LIST_FIRST;
    list->used = 0;
    return list;
}

/* An entry that is not linked yet; give_back() undoes it until then. */
static struct entry *take_entry(struct info_list *list)
{
    if (list->used == list->size) {
        size_t size = list->blocks == NULL      ? BLOCK_FIRST
                      : list->size < BLOCK_LAST ? 2 * list->size
                                                : list->size;
        struct block *block = malloc(sizeof *block + size * sizeof(struct entry));
        if (block == NULL)
            return NULL;
        block->next = list->blocks;
        list->blocks = block;
        list->newest = block->entries;
        list->size = size;
        list->used = 0;
    }
    return &list->newest[list->used++];
}

static void give_back(struct info_list *list)
{
    list->used--;
}

void PMIx_Info_list_release(void *ptr)
{
    struct info_list *list = ptr;

    if (list == NULL)
        return;
    for (struct entry *e = list->first; e != NULL; e = e->next)
        infos_release(&e->info, 1);
    for (struct block *b = list->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    free(list);
}

static void append(struct info_list *list, struct entry *e)
{
    e->next = NULL;
    *list->last = e;
    list->last = &e->next;
    list->count++;
}

static void prepend(struct info_list *list, struct entry *e)
{
    e->next = list->first;
    list->first = e;
    if (e->next == NULL)
        list->last = &e->next;
    list->count++;
}

static struct entry *find(struct info_list *list, const char *key)
{
    for (struct entry *e = list->first; e != NULL; e = e->next)
        if (PMIx_Check_key(e->info.key, key))
            return e;
    return NULL;
}

/* Sources of an entry: a key with data of a type, a key with a value, or an info. */
struct info_source {
    const char *key;
    const void *data;
    pmix_data_type_t type;
    const pmix_value_t *value;
    const pmix_info_t *info;
};

static pmix_status_t fill(pmix_info_t *info, const struct info_source *from)
{
    if (from->info != NULL)
        return PMIx_Info_xfer(info, from->info);
    if (from->value == NULL)
        return PMIx_Info_load(info, from->key, from->data, from->type);
    PMIx_Load_key(info->key, from->key);
    info->flags = 0;
    return value_copy(&info->value, from->value);
}

static pmix_status_t add(struct info_list *list, const struct info_source *from,
                         void (*place)(struct info_list *, struct entry *))
{
    struct entry *e;
    pmix_status_t rc;

    if (list == NULL || from->key == NULL)
        return PMIX_ERR_BAD_PARAM;
    e = take_entry(list);
    if (e == NULL)
        return PMIX_ERR_NOMEM;
    rc = fill(&e->info, from);
    if (rc == PMIX_SUCCESS)
        place(list, e);
    else
        give_back(list);
    return rc;
}

/* An old value is released only when the new one is there. */
static pmix_status_t add_unique(struct info_list *list, const struct info_source *from,
                                bool overwrite)
{
    struct entry *e;
    pmix_info_t fresh;
    pmix_status_t rc;

    if (list == NULL || from->key == NULL)
        return PMIX_ERR_BAD_PARAM;
    e = find(list, from->key);
    if (e == NULL)
        return add(list, from, append);
    if (!overwrite)
        return PMIX_SUCCESS;
    rc = fill(&fresh, from);
    if (rc != PMIX_SUCCESS)
        return rc;
    infos_release(&e->info, 1);
    e->info.value = fresh.value;
    if (from->info != NULL)
        e->info.flags = fresh.flags;
    else
        e->info.flags &= ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT; /* this value is ours */
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Info_list_add(void *ptr, const char *key, const void *value,
                                 pmix_data_type_t type)
{
    return add(ptr, &(struct info_source){ .key = key, .data = value, .type = type }, append);
}

pmix_status_t PMIx_Info_list_add_unique(void *ptr, const char *key, const void *value,
                                        pmix_data_type_t type, bool overwrite)
{
    return add_unique(ptr, &(struct info_source){ .key = key, .data = value, .type = type },
                      overwrite);
}

pmix_status_t PMIx_Info_list_prepend(void *ptr, const char *key, const void *value,
                                     pmix_data_type_t type)
{
    return add(ptr, &(struct info_source){ .key = key, .data = value, .type = type }, prepend);
}

pmix_status_t PMIx_Info_list_add_value(void *ptr, const char *key, const pmix_value_t *value)
{
    if (value == NULL)
        return PMIX_ERR_BAD_PARAM;
    return add(ptr, &(struct info_source){ .key = key, .value = value }, append);
}

pmix_status_t PMIx_Info_list_add_value_unique(void *ptr, const char *key, const pmix_value_t *value,
                                              bool overwrite)
{
    if (value == NULL)
        return PMIX_ERR_BAD_PARAM;
    return add_unique(ptr, &(struct info_source){ .key = key, .value = value }, overwrite);
}

pmix_status_t PMIx_Info_list_xfer(void *ptr, const pmix_info_t *info)
{
    if (info == NULL)
        return PMIX_ERR_BAD_PARAM;
    return add(ptr, &(struct info_source){ .key = info->key, .info = info }, append);
}

pmix_status_t PMIx_Info_list_xfer_unique(void *ptr, const pmix_info_t *info, bool overwrite)
{
    if (info == NULL)
        return PMIX_ERR_BAD_PARAM;
    return add_unique(ptr, &(struct info_source){ .key = info->key, .info = info }, overwrite);
}

/* The list borrows the value, so its own entry is the persistent one. */
pmix_status_t PMIx_Info_list_insert(void *ptr, pmix_info_t *info)
{
    struct entry *e;

    if (ptr == NULL || info == NULL)
        return PMIX_ERR_BAD_PARAM;
    e = take_entry(ptr);
    if (e == NULL)
        return PMIX_ERR_NOMEM;
    e->info = *info;
    e->info.flags |= PMIX_INFO_PERSISTENT;
    append(ptr, e);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Info_list_convert(void *ptr, pmix_data_array_t *par)
{
    struct info_list *list = ptr;
    pmix_info_t *infos;
    size_t n = 0;

    if (list == NULL || par == NULL)
        return PMIX_ERR_BAD_PARAM;
    if (list->count == 0)
        return PMIX_ERR_EMPTY;
    infos = malloc(list->count * sizeof *infos);
    if (infos == NULL)
        return PMIX_ERR_NOMEM;
    for (struct entry *e = list->first; e != NULL; e = e->next, n++) {
        pmix_status_t rc = PMIX_SUCCESS;
        infos[n] = e->info; /* its key is wiped to the end, and persistent values are shared */
        if ((e->info.flags & PMIX_INFO_PERSISTENT) == 0)
            rc = value_copy(&infos[n].value, &e->info.value);
        if (rc != PMIX_SUCCESS) {
            PMIx_Info_free(infos, n);
            return rc;
        }
    }
    *par = (pmix_data_array_t){ .type = PMIX_INFO, .size = n, .array = infos };
    return PMIX_SUCCESS;
}

pmix_info_t *PMIx_Info_list_get_info(void *ptr, void *prev, void **next)
{
    struct info_list *list = ptr;
    struct entry *e = prev;

    if (e == NULL && list != NULL)
        e = list->first;
    *next = e != NULL ? e->next : NULL;
    return e != NULL ? &e->info : NULL;
}

size_t PMIx_Info_list_get_size(void *ptr)
{
    return ptr != NULL ? ((struct info_list *)ptr)->count : 0;
}
