/* pmix_calls.c - see pmix_calls.h. */
#include "server/pmix_calls.h"

#include <string.h>

#define CALL(id, name)  static const struct pmix_call_attr attrs_##id[] = {
#define ATTR(key, type) { #key, key, type },
#define END(id)                                                                                    \
    }                                                                                              \
    ;
/* clang-format off */
#include "proto/pmix_calls.def"
/* clang-format on */

const struct pmix_call pmix_calls[PMIX_CALLS] = {
#define CALL(id, name) { name, attrs_##id, sizeof attrs_##id / sizeof *attrs_##id },
#define ATTR(key, type)
#define END(id)
#include "proto/pmix_calls.def"
};

static const struct pmix_call_attr *find(const struct pmix_call *c, const char *key)
{
    for (size_t i = 0; i < c->nattrs; i++) {
        if (strcmp(c->attrs[i].key, key) == 0)
            return &c->attrs[i];
    }
    return NULL;
}

pmix_status_t pmix_call_check(enum pmix_call_id id, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct pmix_call_attr *a = find(&pmix_calls[id], infos[i].key);
        if (!a && infos[i].flags & PMIX_INFO_REQD)
            return PMIX_ERR_NOT_SUPPORTED;
        if (a && a->type == PMIX_STRING && infos[i].value.type != PMIX_STRING)
            return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}
