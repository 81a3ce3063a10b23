/* pmix_bootstrap.h - constructs of groups whose members do not know each other
 * (PMIX_GROUP_BOOTSTRAP): leaders name themselves and how many they are, and add others
 * (PMIX_GROUP_ADD_MEMBERS), which name nobody.  Without PMIX_GROUP_BOOTSTRAP leaders that add
 * others name all leaders.  The core decides (core/group_bootstrap.h). */
#ifndef WIREUP_SERVER_PMIX_BOOTSTRAP_H
#define WIREUP_SERVER_PMIX_BOOTSTRAP_H

#include "server/pmix_session.h"

/* Whether the members of that construct do not know each other. */
bool pmix_is_bootstrap(const struct command *c, const struct pmsg_group_construct *m);

/* Asks for it; data: for the other members, tolerant: members that end are left out.  NULL, and
 * *status_p is success: no memory, which is recorded in c. */
struct pmix_pending *pmix_ask_bootstrap(struct command *c, const struct pmsg_group_construct *m,
                                        struct slice data, bool tolerant, pmix_status_t *status_p);

/* Takes the answer: the members, and keeps the records.  False: no memory. */
bool pmix_take_bootstrap(struct pmix_session *s, struct pmix_group *g, const struct answer *a);

#endif
