/* constant_names.h - the names of the constants in proto/pmix_constants.def, for printing. */
#ifndef WIREUP_LIB_PMIX_API_CONSTANT_NAMES_H
#define WIREUP_LIB_PMIX_API_CONSTANT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct number_name {
    uint64_t value;
    const char *name; /* "PMIX_LOCAL" */
    const char *text; /* "SHARE ON LOCAL NODE ONLY"; NULL: none of its own */
};

struct number_group {
    const char *name; /* "scope" */
    const struct number_name *names;
    size_t count;
    const char *other; /* the text of every other value, or NULL */
};

enum number_group_id {
#define GROUP(group, ctype, kind, other, what) NUMBER_##group,
#define CONST(group, name, value, state, text)
#define END(group)
#include "proto/pmix_constants.def"
#undef GROUP
#undef CONST
#undef END
    NUMBER_GROUPS
};

const struct number_group *number_group(enum number_group_id id);

/* The text of one value of the group, else the group's other text (which may be NULL). */
const char *number_text(enum number_group_id id, uint64_t value);

#endif
