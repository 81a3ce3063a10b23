/* attributes.h - the table of the reserved keys. */
#ifndef WIREUP_LIB_PMIX_API_ATTRIBUTES_H
#define WIREUP_LIB_PMIX_API_ATTRIBUTES_H

#include "pmix_common.h"

/* The texts are stored in the row: pointers to them would need a relocation in every process
 * that loads the library, and hardly any process ever looks here. */
enum { ATTRIBUTE_NAME = 42, ATTRIBUTE_TEXT = 24 };

struct attribute {
    char name[ATTRIBUTE_NAME]; /* "PMIX_TIMEOUT" */
    char text[ATTRIBUTE_TEXT]; /* "pmix.timeout" */
    pmix_data_type_t type;
};

/* All of them, sorted by name: attribute_at(0 … attribute_count() - 1). */
size_t attribute_count(void);
const struct attribute *attribute_at(size_t i);

/* By name (case-insensitive) and by text; NULL when unknown. */
const struct attribute *attribute_by_name(const char *name);
const struct attribute *attribute_by_text(const char *text);

#endif
