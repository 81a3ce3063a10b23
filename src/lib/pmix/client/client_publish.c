/* client_publish.c - see client_publish.h. */
#include "lib/pmix/client/client_publish.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/pmix/values/value.h"

static size_t count(char *const *keys)
{
    size_t n = 0;

    while (keys && keys[n])
        n++;
    return n;
}

static pmix_status_t begin_publish(struct client *c, struct message *m, const pmix_info_t *infos,
                                   size_t n)
{
    pmix_status_t rc = infos && n ? message_begin(c, m, CMD_PUBLISH) : PMIX_ERR_BAD_PARAM;

    if (rc == PMIX_SUCCESS)
        message_put(m, publish, { .uid = (uint32_t)geteuid(), .infos = PMSG_LENT(infos, n) });
    return rc;
}

pmix_status_t publish_begin_keys(struct client *c, struct message *m, uint8_t command,
                                 char *const *keys, const pmix_info_t *infos, size_t n)
{
    pmix_status_t rc = infos || !n ? message_begin(c, m, command) : PMIX_ERR_BAD_PARAM;
    size_t nkeys = count(keys);
    struct slice *texts;

    if (rc != PMIX_SUCCESS)
        return rc;
    texts = calloc(nkeys + 1, sizeof *texts);
    if (!texts) {
        m->w.error = PTYPE_NO_MEMORY;
        return PMIX_SUCCESS; /* told when it is sent */
    }
    for (size_t i = 0; i < nkeys; i++)
        texts[i] = slice_str(keys[i]);
    message_put(
        m, keys,
        { .uid = (uint32_t)geteuid(), .keys = { nkeys, texts }, .infos = PMSG_LENT(infos, n) });
    free(texts);
    return PMIX_SUCCESS;
}

/* ---- publish and unpublish ------------------------------------------------------------------- */

pmix_status_t PMIx_Publish(const pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin_publish(c, &m, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_call(&m) : rc);
}

pmix_status_t PMIx_Publish_nb(const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = begin_publish(c, &m, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_begin(&m, cbfunc, cbdata) : rc);
}

pmix_status_t PMIx_Unpublish(char **keys, const pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = publish_begin_keys(c, &m, CMD_UNPUBLISH, keys, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_call(&m) : rc);
}

pmix_status_t PMIx_Unpublish_nb(char **keys, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct client *c = api_begin();
    struct message m;
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    rc = publish_begin_keys(c, &m, CMD_UNPUBLISH, keys, info, ninfo);
    return api_end(c, rc == PMIX_SUCCESS ? api_status_begin(&m, cbfunc, cbdata) : rc);
}
