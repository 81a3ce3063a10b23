/* pmix_support.h - the answer to PMIX_QUERY_ATTRIBUTE_SUPPORT for one level (PMIX_CLIENT_FUNCTIONS,
 * PMIX_HOST_ATTRIBUTES ...), from a list of calls. */
#ifndef WIREUP_SERVER_PMIX_SUPPORT_H
#define WIREUP_SERVER_PMIX_SUPPORT_H

#include "server/info_array.h"

struct list;
struct pmix_call;

/* Who offers functions: each level is asked for their names, or for their attributes. */
enum pmix_level { PMIX_LEVEL_CLIENT, PMIX_LEVEL_SERVER, PMIX_LEVEL_TOOL, PMIX_LEVEL_HOST };

struct pmix_level_key {
    const char *key;
    enum pmix_level level;
    bool attributes;
};

/* NULL: the key is no such level. */
const struct pmix_level_key *pmix_level_of(const char *key);

/* The calls of proto/pmix_calls.def, all or some of them; or (host) those of core/host_calls.h. */
struct pmix_offer {
    bool (*offers)(const void *arg, const struct pmix_call *call); /* NULL: all */
    const void *arg;
    const struct list *host; /* NULL: the table */
};

/* The key of the answer about this level of the query: that of the query if it asks for one level
 * (OpenPMIx 5.0's pattrs accepts no other), else the level's. */
const char *pmix_support_key(const pmix_query_t *q, const struct pmix_level_key *level);

/* Appends an info with that key: the names; or for each function that `which` names (separated by
 * commas; "all", or no text: for all) an array of pmix_regattr_t.  False: there is none. */
bool pmix_support(struct info_array *l, const struct pmix_level_key *level, const char *key,
                  const pmix_value_t *which, const struct pmix_offer *o);

#endif
