/* client_publish.h - publish, unpublish, and what their messages have in common with those of a
 * look-up (client_lookup.c). */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_PUBLISH_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_PUBLISH_H

#include "lib/pmix/client/client_api.h"

/* Begins a message that names keys; none: all of them.  As message_begin; PMIX_ERR_BAD_PARAM: infos
 * are missing. */
pmix_status_t publish_begin_keys(struct client *c, struct message *m, uint8_t command,
                                 char *const *keys, const pmix_info_t *infos, size_t n);

#endif
