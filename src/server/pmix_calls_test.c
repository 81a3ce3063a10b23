/* pmix_calls_test.c - every row of proto/pmix_calls.def: honoured with and without the flag that it
 * is required, refused with a wrong type; and keys that no row has. */
#include "server/pmix_calls.h"

#include <string.h>

#include "tests/tap.h"

static pmix_info_t info_of(const char *key, pmix_data_type_t type, pmix_info_directives_t flags)
{
    pmix_info_t info;

    memset(&info, 0, sizeof info);
    strncpy(info.key, key, PMIX_MAX_KEYLEN);
    info.value.type = type;
    info.flags = flags;
    return info;
}

static pmix_status_t check_one(enum pmix_call_id id, const char *key, pmix_data_type_t type,
                               pmix_info_directives_t flags)
{
    pmix_info_t infos[2] = { info_of(key, type, flags), info_of("no.key", PMIX_STRING, 0) };

    return pmix_call_check(id, infos, 2);
}

int main(void)
{
    for (int c = 0; c < PMIX_CALLS; c++) {
        enum pmix_call_id id = (enum pmix_call_id)c;
        const struct pmix_call *call = &pmix_calls[c];
        for (size_t i = 0; i < call->nattrs; i++) {
            const struct pmix_call_attr *a = &call->attrs[i];
            pmix_status_t other = a->type == PMIX_STRING ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
            OK_F(check_one(id, a->key, a->type, 0) == PMIX_SUCCESS &&
                     check_one(id, a->key, a->type, PMIX_INFO_REQD) == PMIX_SUCCESS &&
                     check_one(id, a->key, PMIX_DOUBLE, 0) == other,
                 "%s, %s", call->name, a->name);
        }
        OK_F(check_one(id, "no.such", PMIX_STRING, 0) == PMIX_SUCCESS &&
                 check_one(id, "no.such", PMIX_STRING, PMIX_INFO_REQD) == PMIX_ERR_NOT_SUPPORTED,
             "%s, an attribute that it does not honour", call->name);
    }
    return tap_done();
}
