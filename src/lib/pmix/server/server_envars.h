/* server_envars.h - changes of environments, as the infos PMIX_SET_ENVAR and its like.
 *
 * What an application's environment has to be on each node is collected once by
 * PMIx_server_setup_application (server_setup.c), carried by the host to its nodes, and kept there
 * by PMIx_server_setup_local_support for the processes of the namespace (server_env.h). */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_ENVARS_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_ENVARS_H

#include <stdbool.h>

#include "base/list.h"
#include "pmix_common.h"

/* Whether the info is such a change, with a value of its type. */
bool envars_is_change(const pmix_info_t *info);

/* Keeps the changes among the infos in a list of struct registered_info.  PMIX_SUCCESS or
 * PMIX_ERR_NOMEM. */
pmix_status_t envars_keep(struct list *list, const pmix_info_t *infos, size_t n);

/* Makes them.  PMIX_SUCCESS or PMIX_ERR_NOMEM. */
pmix_status_t envars_apply(const struct list *list, char ***env);

/* Removes a variable. */
void envars_unset(char **env, const char *name);

#endif
