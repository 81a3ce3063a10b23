/* kvs.h - puts, commits, barriers and gets of a PMI-1 client. */
#ifndef WIREUP_LIB_PMI_KVS_H
#define WIREUP_LIB_PMI_KVS_H

#include "lib/pmi/client.h"

/* 0, CLIENT_BAD_SPACE, CLIENT_BAD_KEY, CLIENT_LONG_KEY, CLIENT_BAD_VALUE, CLIENT_LONG_VALUE,
 * CLIENT_FAILED, -ENOMEM. */
int kvs_put(struct pmi1_client *c, const char *space, const char *key, const char *value,
            struct errmsg *err);

/* Sends the unsent puts without waiting; reports a refusal known by now. */
int kvs_commit(struct pmi1_client *c, const char *space, struct errmsg *err);

/* Sends the unsent puts and waits for the server's acknowledgements. */
int kvs_settle(struct pmi1_client *c, struct errmsg *err);

/* Passes the value of key to `use`, in place (valid only during the call, which must not call
 * this library).  Returns the result of `use`, or CLIENT_BAD_SPACE, CLIENT_BAD_KEY (not found),
 * CLIENT_LONG_KEY, CLIENT_FAILED, -ENOMEM. */
typedef int kvs_use(void *arg, struct slice value, struct errmsg *err);
/* Fences may have left values on other nodes: they come into the store, for those who list it. */
int kvs_fetch_all(struct pmi1_client *c, struct errmsg *err);

int kvs_get(struct pmi1_client *c, const char *space, const char *key, kvs_use *use, void *arg,
            struct errmsg *err);

/* Enters a barrier and waits.  group is as on the wire (`WORLD:0`, ...; empty: all processes).
 * Unsent puts go along.  0; CLIENT_FAILED; a refusal of a put (the barrier took place); -ENOMEM. */
int kvs_barrier(struct pmi1_client *c, struct slice group, struct errmsg *err);

/* The same for PMI_Barrier_group: members as in pmi.h, tag a hash made by the caller. */
enum kvs_group { KVS_WORLD, KVS_SELF, KVS_NODE, KVS_LIST };
int kvs_barrier_group(struct pmi1_client *c, enum kvs_group kind, const int *ranks, int count,
                      const char *tag, struct errmsg *err);

#endif
