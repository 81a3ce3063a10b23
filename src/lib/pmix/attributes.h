/* attributes.h - what is known about the reserved keys. */
#ifndef WIREUP_LIB_PMIX_ATTRIBUTES_H
#define WIREUP_LIB_PMIX_ATTRIBUTES_H

#include "pmix_common.h"

struct attribute {
    const char *name; /* "PMIX_TIMEOUT" */
    const char *text; /* "pmix.timeout" */
    pmix_data_type_t type;
};

/* All of them, sorted by name: attribute_at(0 … attribute_count() - 1). */
size_t attribute_count(void);
const struct attribute *attribute_at(size_t i);

/* By name (in any case of letters) and by text; NULL when nobody knows it. */
const struct attribute *attribute_by_name(const char *name);
const struct attribute *attribute_by_text(const char *text);

#endif
