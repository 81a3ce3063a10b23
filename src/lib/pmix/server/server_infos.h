/* server_infos.h - infos as the host has registered them, and reading single ones. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_INFOS_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_INFOS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "pmix_common.h"

/* One info of a list that is kept. */
struct registered_info {
    struct list link;
    pmix_info_t info;
};

bool registered_add(struct list *list, const pmix_info_t *i); /* a copy; false: no memory */
void registered_drop(struct registered_info *t);
void registered_drop_all(struct list *list);

/* Arrays of infos: the content of many keys. */
struct info_group {
    const pmix_info_t *list;
    size_t n;
};

bool info_key_is(const pmix_info_t *i, const char *key);

/* A text or a compressed one; NULL: it is neither. */
const char *info_text(const pmix_info_t *i);
bool info_number(const pmix_info_t *i, uint32_t *v_p);

/* The infos in an info; none, if it is no array of infos. */
struct info_group info_group_of(const pmix_info_t *i);
const pmix_info_t *info_group_find(struct info_group g,
                                   const char *key); /* NULL: it is not there */

#endif
