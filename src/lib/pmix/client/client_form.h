/* client_form.h - bodies of public functions: a message is begun, and its reply is waited for or
 * delivered to a callback. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_FORM_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_FORM_H

#include "lib/pmix/client/client_api.h"

/* Each pair of functions has its own start of the message, and these two ends. */
#define BLOCKING(begin, ...)                                                                       \
    struct client *c = api_begin();                                                                \
    struct message m;                                                                              \
    pmix_status_t rc;                                                                              \
                                                                                                   \
    if (results && nresults) {                                                                     \
        *results = NULL;                                                                           \
        *nresults = 0;                                                                             \
    }                                                                                              \
    if (!c)                                                                                        \
        return PMIX_ERR_INIT;                                                                      \
    rc = begin(c, &m, __VA_ARGS__);                                                                \
    return api_end(c, rc == PMIX_SUCCESS ? api_infos_call(&m, results, nresults) : rc)

#define WITH_CALLBACK(send, begin, ...)                                                            \
    struct client *c = api_begin();                                                                \
    struct message m;                                                                              \
    pmix_status_t rc;                                                                              \
                                                                                                   \
    if (!c)                                                                                        \
        return PMIX_ERR_INIT;                                                                      \
    rc = begin(c, &m, __VA_ARGS__);                                                                \
    return api_end(c, rc == PMIX_SUCCESS ? send(&m, cbfunc, cbdata) : rc)

#define STATUS_ONLY(begin, ...)                                                                    \
    struct client *c = api_begin();                                                                \
    struct message m;                                                                              \
    pmix_status_t rc;                                                                              \
                                                                                                   \
    if (!c)                                                                                        \
        return PMIX_ERR_INIT;                                                                      \
    rc = begin(c, &m, __VA_ARGS__);                                                                \
    return api_end(c, rc == PMIX_SUCCESS ? api_status_call(&m) : rc)

#endif
