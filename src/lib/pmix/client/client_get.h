/* client_get.h - getting values, for the other files of the client. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_GET_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_GET_H

#include "lib/pmix/client/client.h"

/* PMIx_Get with the lock held (it is released while the server is asked). */
pmix_status_t client_get(struct client *c, const pmix_proc_t *proc, const char *key,
                         const pmix_info_t *infos, size_t ninfos, pmix_value_t **val);

/* The slow path of PMIx_Get. */
pmix_status_t client_get_locked(const pmix_proc_t *proc, const char *key, const pmix_info_t *infos,
                                size_t ninfos, pmix_value_t **val);

#endif
