/* regex.c - PMIx_generate_regex and PMIx_generate_ppn. */
#include "lib/pmix/api/regex.h"

#include <stdlib.h>

#include "pmix_server.h"

typedef void writer(struct buf *out, struct slice input);

static pmix_status_t generate(writer *write, const char *input, char **regex)
{
    struct buf out = BUF_NULL(SIZE_MAX / 2);

    if (input == NULL || regex == NULL)
        return PMIX_ERR_BAD_PARAM;
    write(&out, slice_str(input));
    *regex = buf_steal(&out, NULL);
    buf_free(&out);
    return *regex != NULL ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t PMIx_generate_regex(const char *input, char **regex)
{
    return generate(regex_write_nodes, input, regex);
}

pmix_status_t PMIx_generate_ppn(const char *input, char **ppn)
{
    return generate(regex_write_ranks, input, ppn);
}
