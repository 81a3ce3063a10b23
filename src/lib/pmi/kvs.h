/* kvs.h - puts, commits, barriers and gets of a PMI-1 client. */
#ifndef WIREUP_LIB_PMI_KVS_H
#define WIREUP_LIB_PMI_KVS_H

#include "lib/pmi/client.h"

/* 0, CLIENT_BAD_SPACE, CLIENT_BAD_KEY, CLIENT_LONG_KEY, CLIENT_BAD_VALUE, CLIENT_LONG_VALUE,
 * CLIENT_FAILED, -ENOMEM. */
int kvs_put(struct client *c, const char *space, const char *key, const char *value,
            struct errmsg *err);

/* Sends what was put, without waiting; tells of a refusal known by now. */
int kvs_commit(struct client *c, const char *space, struct errmsg *err);

/* Sends what was put and waits for the server's word on it. */
int kvs_settle(struct client *c, struct errmsg *err);

/* Gives the value under key to `use`, wherever it lies (it stays there only for the call; nothing
 * of this library may be called meanwhile).  Returns what `use` returns, or CLIENT_BAD_SPACE,
 * CLIENT_BAD_KEY (not there), CLIENT_LONG_KEY, CLIENT_FAILED, -ENOMEM. */
typedef int kvs_use(void *arg, struct slice value, struct errmsg *err);
int kvs_get(struct client *c, const char *space, const char *key, kvs_use *use, void *arg,
            struct errmsg *err);

/* Enters a barrier and waits: group as on the wire (`WORLD:0`, ...; empty: of everybody).  What was
 * put goes along.  0; CLIENT_FAILED; a refusal of a put (the barrier took place); -ENOMEM. */
int kvs_barrier(struct client *c, struct slice group, struct errmsg *err);

/* The same for PMI_Barrier_group: members in the words of pmi.h, tag a hash of the caller's. */
enum kvs_group { KVS_WORLD, KVS_SELF, KVS_NODE, KVS_LIST };
int kvs_barrier_group(struct client *c, enum kvs_group kind, const int *ranks, int count,
                      const char *tag, struct errmsg *err);

#endif
