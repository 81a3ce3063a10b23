/* server_told.c - see server_told.h. */
#include "lib/pmix/server/server_told.h"

#include <string.h>

#include "pmix.h"

bool told_key_is(const pmix_info_t *i, const char *key)
{
    return !strncmp(i->key, key, PMIX_MAX_KEYLEN);
}

const char *told_text(const pmix_info_t *i)
{
    if (i->value.type == PMIX_STRING)
        return i->value.data.string;
    if (i->value.type == PMIX_REGEX)
        return i->value.data.bo.bytes;
    return NULL;
}

bool told_number(const pmix_info_t *i, uint32_t *v_p)
{
    pmix_status_t rc;

    PMIX_VALUE_GET_NUMBER(rc, &i->value, *v_p, uint32_t);
    return rc == PMIX_SUCCESS;
}

struct told_group told_group_of(const pmix_info_t *i)
{
    const pmix_data_array_t *a = i->value.type == PMIX_DATA_ARRAY ? i->value.data.darray : NULL;

    return a && a->type == PMIX_INFO && a->array ? (struct told_group){ a->array, a->size }
                                                 : (struct told_group){ NULL, 0 };
}

const pmix_info_t *told_find(struct told_group g, const char *key)
{
    for (size_t i = 0; i < g.n; i++) {
        if (told_key_is(&g.list[i], key))
            return &g.list[i];
    }
    return NULL;
}
