/* server_told.h - infos as the host has registered them, and reading single ones. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_TOLD_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "pmix_common.h"

/* One info of a namespace. */
struct told {
    struct list link;
    pmix_info_t info;
};

/* Arrays of infos: the content of many keys. */
struct told_group {
    const pmix_info_t *list;
    size_t n;
};

bool told_key_is(const pmix_info_t *i, const char *key);

/* A text or a compressed one; NULL: it is neither. */
const char *told_text(const pmix_info_t *i);
bool told_number(const pmix_info_t *i, uint32_t *v_p);

/* The infos in an info; none, if it is no array of infos. */
struct told_group told_group_of(const pmix_info_t *i);
const pmix_info_t *told_find(struct told_group g, const char *key); /* NULL: it is not there */

#endif
