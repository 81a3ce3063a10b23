/* server_infos.c - see server_infos.h. */
#include "lib/pmix/server/server_infos.h"

#include <stdlib.h>
#include <string.h>

#include "pmix.h"

bool registered_add(struct list *list, const pmix_info_t *i)
{
    struct registered_info *t = calloc(1, sizeof *t);

    if (!t || PMIx_Info_xfer(&t->info, i) != PMIX_SUCCESS) {
        free(t);
        return false;
    }
    list_append(list, &t->link);
    return true;
}

void registered_drop(struct registered_info *t)
{
    list_unlink(&t->link);
    PMIx_Info_destruct(&t->info);
    free(t);
}

void registered_drop_all(struct list *list)
{
    LIST_EACH(l, list)
    registered_drop(LIST_OF(l, struct registered_info, link));
}

bool info_key_is(const pmix_info_t *i, const char *key)
{
    return !strncmp(i->key, key, PMIX_MAX_KEYLEN);
}

const char *info_text(const pmix_info_t *i)
{
    if (i->value.type == PMIX_STRING)
        return i->value.data.string;
    if (i->value.type == PMIX_REGEX)
        return i->value.data.bo.bytes;
    return NULL;
}

bool info_number(const pmix_info_t *i, uint32_t *v_p)
{
    pmix_status_t rc;

    PMIX_VALUE_GET_NUMBER(rc, &i->value, *v_p, uint32_t);
    return rc == PMIX_SUCCESS;
}

struct info_group info_group_of(const pmix_info_t *i)
{
    const pmix_data_array_t *a = i->value.type == PMIX_DATA_ARRAY ? i->value.data.darray : NULL;

    return a && a->type == PMIX_INFO && a->array ? (struct info_group){ a->array, a->size }
                                                 : (struct info_group){ NULL, 0 };
}

const pmix_info_t *info_group_find(struct info_group g, const char *key)
{
    for (size_t i = 0; i < g.n; i++) {
        if (info_key_is(&g.list[i], key))
            return &g.list[i];
    }
    return NULL;
}
