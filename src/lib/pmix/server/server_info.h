/* server_info.h - job info, from the host's registrations: everything but the places of
 * processes (server_map.h).  Clients get it as it was registered (core/host_info.h). */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_INFO_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_INFO_H

#include "core/job.h"
#include "pmix_common.h"

/* Adds an info to the job's; here: the index of the host's node, or SMAP_NOWHERE.  0 or -ENOMEM. */
int sinfo_add(struct job *j, uint32_t here, const pmix_info_t *i);

/* Adds infos about the job (struct registered_info) unless it has one of that key.  0 or -ENOMEM.
 */
int sinfo_add_defaults(struct job *j, const struct list *infos);

#endif
