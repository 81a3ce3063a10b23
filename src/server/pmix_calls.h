/* pmix_calls.h - the calls that take infos, and their attributes (proto/pmix_calls.def). */
#ifndef WIREUP_SERVER_PMIX_CALLS_H
#define WIREUP_SERVER_PMIX_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "pmix_common.h"
#include "wire/pmix_command.h"

enum pmix_call_id {
#define CALL(id, name, command, others) PMIX_CALL_##id,
#define ATTR(key, type)
#define CARRIED(key, type)
#define REFUSED(key, type, why)
#define IGNORED(key, type, why)
#define END(id)
#include "proto/pmix_calls.def"
    PMIX_CALLS
};

enum pmix_attr_class {
    PMIX_ATTR_HONOURED,
    PMIX_ATTR_CARRIED,
    PMIX_ATTR_DATA, /* of keys without a row */
    PMIX_ATTR_REFUSED,
    PMIX_ATTR_IGNORED
};

/* The texts are no pointers: each of these is relocated at the start of every process. */
struct pmix_call_attr {
    char name[40], key[28]; /* the macro, and its text */
    pmix_data_type_t type;  /* UNDEF: several are allowed */
    uint8_t class;          /* enum pmix_attr_class */
    bool is_group;          /* an array of infos, to which the rows of the call apply, too */
};

struct pmix_call {
    const char *name;
    const struct pmix_call_attr *attrs; /* those that are honoured or carried come first */
    size_t nattrs, nrows;               /* how many those are, and all */
    uint8_t command;                    /* enum pmix_command; CMD_NONE: the library checks it */
    uint8_t others;                     /* enum pmix_attr_class of keys without a row */
};

extern const struct pmix_call pmix_calls[PMIX_CALLS];

/* The call that the command carries.  NULL: it has no infos. */
const struct pmix_call *pmix_call_of(enum pmix_command command);

/* PMIX_ERR_NOT_SUPPORTED: an info is refused, or is not honoured and flagged as required.
 * PMIX_ERR_BAD_PARAM: a value has another type, and cannot be converted, or a group holds no infos.
 * PMIX_SUCCESS: all others. */
pmix_status_t pmix_call_check(enum pmix_call_id id, const pmix_info_t *infos, size_t n);

#endif
