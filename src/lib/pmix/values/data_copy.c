/* data_copy.c - PMIx_Data_copy and PMIx_Data_print. */
#include "lib/pmix/values/print.h"
#include "lib/pmix/values/value.h"
#include "pmix.h"

static char *copy_text(const void *text)
{
    return strdup(text);
}

static char *copy_regex(const void *regex)
{
    size_t n = ptype_regex_size(regex);
    char *copy = malloc(n);

    return copy != NULL ? memcpy(copy, regex, n) : NULL;
}

/* Callers pass any string, not a full array. */
static char *copy_nspace(const void *nspace)
{
    pmix_nspace_t *copy = calloc(1, sizeof *copy);

    if (copy != NULL)
        PMIx_Load_nspace(*copy, nspace);
    return (char *)copy;
}

/* For strings src is the string itself, not its address, as in OpenPMIx. */
static void *copy_textual(const void *src, pmix_data_type_t type)
{
    return type == PMIX_STRING  ? copy_text(src)
           : type == PMIX_REGEX ? copy_regex(src)
                                : copy_nspace(src);
}

/* Copies one item into new memory; the most frequent types take the fast path. */
static pmix_status_t copy_item(const struct ptype *t, void *to, const void *from)
{
    if (ptype_flat(t)) {
        memcpy(to, from, t->size);
        return PMIX_SUCCESS;
    }
    if (t->number == PMIX_INFO)
        return PMIx_Info_xfer(to, from);
    return ptype_status(pmem_copy(t, to, from, 1, foreign_objects()), PTYPE_COPYING);
}

/* A new item with the content of src. */
pmix_status_t PMIx_Data_copy(void **dest, void *src, pmix_data_type_t type)
{
    const struct ptype *t = ptype_find(type);
    pmix_status_t rc;
    void *copy;

    if (dest == NULL || src == NULL)
        return PMIX_ERR_BAD_PARAM;
    if (t == NULL)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    *dest = NULL;
    if (type == PMIX_STRING || type == PMIX_REGEX || type == PMIX_PROC_NSPACE) {
        *dest = copy_textual(src, type);
        return *dest != NULL ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    copy = malloc(t->size);
    if (copy == NULL)
        return PMIX_ERR_NOMEM;
    rc = copy_item(t, copy, src);
    if (rc == PMIX_SUCCESS)
        *dest = copy;
    else
        free(copy);
    return rc;
}

/* The text is malloc'ed; for strings (STRING, REGEX) src is the string itself. */
pmix_status_t PMIx_Data_print(char **output, char *prefix, void *src, pmix_data_type_t type)
{
    if (output == NULL || src == NULL)
        return PMIX_ERR_BAD_PARAM;
    return print_item(prefix, type == PMIX_REGEX ? (void *)&src : src, type, output);
}
