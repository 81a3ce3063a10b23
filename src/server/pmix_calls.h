/* pmix_calls.h - the attributes that `wireup` honours, call by call (proto/pmix_calls.def). */
#ifndef WIREUP_SERVER_PMIX_CALLS_H
#define WIREUP_SERVER_PMIX_CALLS_H

#include <stddef.h>

#include "pmix_common.h"

enum pmix_call_id {
#define CALL(id, name) PMIX_CALL_##id,
#define ATTR(key, type)
#define END(id)
#include "proto/pmix_calls.def"
    PMIX_CALLS
};

struct pmix_call_attr {
    const char *name, *key; /* the macro, and its text */
    pmix_data_type_t type;
};

struct pmix_call {
    const char *name;
    const struct pmix_call_attr *attrs;
    size_t nattrs;
};

extern const struct pmix_call pmix_calls[PMIX_CALLS];

/* PMIX_ERR_NOT_SUPPORTED: an info that is flagged as required is not honoured by the call.
 * PMIX_ERR_BAD_PARAM: a text has another type.  PMIX_SUCCESS: all others; infos that are neither
 * honoured nor required are ignored. */
pmix_status_t pmix_call_check(enum pmix_call_id id, const pmix_info_t *infos, size_t n);

#endif
