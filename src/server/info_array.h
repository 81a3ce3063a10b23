/* info_array.h - a growing list of PMIx infos, which owns their values. */
#ifndef WIREUP_SERVER_INFO_ARRAY_H
#define WIREUP_SERVER_INFO_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "pmix_common.h"

struct info_array {
    pmix_info_t *items;
    size_t n, room;
    bool no_memory;
};

/* Each takes its value over.  Without memory the list says so. */
void info_array_add(struct info_array *l, const char *key, pmix_value_t v);
void info_array_text(struct info_array *l, const char *key, const char *text);   /* copied */
void info_array_slice(struct info_array *l, const char *key, struct slice text); /* likewise */
void info_array_float(struct info_array *l, const char *key, double number);
void info_array_u32(struct info_array *l, const char *key, uint32_t number);
void info_array_u64(struct info_array *l, const char *key, uint64_t number);
void info_array_proc(struct info_array *l, const char *key, const char *nspace, uint32_t rank);
/* n malloc'ed items of that type. */
void info_array_items(struct info_array *l, const char *key, uint16_t type, void *items, size_t n);
/* The whole other list, which is empty then. */
void info_array_infos(struct info_array *l, const char *key, struct info_array *inner);
/* A copy. */
void info_array_copy(struct info_array *l, const char *key, const pmix_value_t *v);
void info_array_free(struct info_array *l);

/* Of n infos the first with that key; NULL: none. */
const pmix_value_t *info_find(const pmix_info_t *infos, size_t n, const char *key);
/* NULL: none, or it is no text. */
const char *info_find_text(const pmix_info_t *infos, size_t n, const char *key);
/* Likewise in an info whose value is an array of infos. */
const pmix_value_t *info_inside(const pmix_info_t *info, const char *key);
const char *info_inside_text(const pmix_info_t *info, const char *key);

#endif
