/* client_get.h - values, for the other files of the client. */
#ifndef WIREUP_LIB_PMIX_CLIENT_GET_H
#define WIREUP_LIB_PMIX_CLIENT_GET_H

#include "lib/pmix/client.h"

/* As PMIx_Get, with the lock held (it is open while the server is asked). */
pmix_status_t client_get(struct client *c, const pmix_proc_t *proc, const char *key,
                         const pmix_info_t *infos, size_t ninfos, pmix_value_t **val);

/* PMIx_Get, the long way. */
pmix_status_t client_get_locked(const pmix_proc_t *proc, const char *key, const pmix_info_t *infos,
                                size_t ninfos, pmix_value_t **val);

#endif
