/* server_attributes.c - see server_attributes.h. */
#include "lib/pmix/server/server_attributes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pmix.h"

struct registered {
    struct list link;
    char **attributes;
    char function[];
};

pmix_status_t attributes_add(struct list *all, const char *function, char *const attributes[])
{
    struct registered *r;

    LIST_EACH(l, all)
    {
        if (strcmp(LIST_OF(l, struct registered, link)->function, function) == 0)
            return PMIX_ERR_REPEAT_ATTR_REGISTRATION;
    }
    r = calloc(1, sizeof *r + strlen(function) + 1);
    if (!r)
        return PMIX_ERR_NOMEM;
    strcpy(r->function, function);
    r->attributes = PMIx_Argv_copy((char **)(uintptr_t)attributes);
    list_append(all, &r->link);
    return PMIX_SUCCESS;
}

void attributes_free(struct list *all)
{
    LIST_EACH(l, all)
    {
        struct registered *r = LIST_OF(l, struct registered, link);
        list_unlink(l);
        PMIx_Argv_free(r->attributes);
        free(r);
    }
}
