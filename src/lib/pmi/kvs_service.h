/* kvs_service.h - a key-value service that the environment names (include/wireup_kvs.h), in the
 * place of a process manager. */
#ifndef WIREUP_LIB_PMI_KVS_SERVICE_H
#define WIREUP_LIB_PMI_KVS_SERVICE_H

#include "base/err.h"
#include "lib/pmi/kvs.h"

struct kvs_service;

/* What the environment names; NULL: nothing.  refused: it does, but this program has more rights
 * than its user. */
const char *kvs_service_path(bool *refused_p);

/* Opens the object and joins the job: fills in rank, size, name and limits of the client.
 * CLIENT_OK, CLIENT_FAILED, or -ENOMEM with a sentence. */
int kvs_service_start(struct pmi1_client *c, const char *path, struct errmsg *err);
void kvs_service_stop(struct pmi1_client *c); /* harmless without one */

/* Result codes as those of kvs.h. */
int kvs_service_put(struct pmi1_client *c, struct slice key, const char *value, struct errmsg *err);
int kvs_service_get(struct pmi1_client *c, struct slice key, kvs_use *use, void *arg,
                    struct errmsg *err);
int kvs_service_fence(struct pmi1_client *c, struct errmsg *err);

#endif
