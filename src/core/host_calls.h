/* host_calls.h - functions of a host that is not `wireup`, and the attributes of which it says that
 * they support them (PMIx_Register_attributes); clients query them. */
#ifndef WIREUP_CORE_HOST_CALLS_H
#define WIREUP_CORE_HOST_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct host_attr {
    const char *name, *key; /* "PMIX_TIMEOUT", "pmix.timeout" */
    uint16_t type;          /* PMIx data type of its value */
};

struct host_call {
    struct list link;
    size_t nattrs;
    struct host_attr *attrs;
    char *function;
};

enum { HOST_CALLS_TWICE = 1 };

/* Copies of the texts.  0; HOST_CALLS_TWICE: that function has been registered; -ENOMEM. */
int host_calls_add(struct list *calls, const char *function, const struct host_attr *attrs,
                   size_t n);
void host_calls_free(struct list *calls);

#endif
