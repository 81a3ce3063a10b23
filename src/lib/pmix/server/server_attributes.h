/* server_attributes.h - the attributes that the host says its functions support
 * (PMIx_Register_attributes). */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_ATTRIBUTES_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_ATTRIBUTES_H

#include <stdbool.h>

#include "base/list.h"
#include "pmix_common.h"

/* Adds a function to the list (struct pserver, attributes), once. */
pmix_status_t attributes_add(struct list *all, const char *function, char *const attributes[]);
void attributes_free(struct list *all);

#endif
