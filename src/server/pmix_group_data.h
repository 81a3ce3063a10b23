/* pmix_group_data.h - the values that the members of a group give each other while it is
 * constructed (PMIX_GROUP_INFO): in messages of clients, in the records of the core, and in gets.
 */
#ifndef WIREUP_SERVER_PMIX_GROUP_DATA_H
#define WIREUP_SERVER_PMIX_GROUP_DATA_H

#include "server/pmix_session.h"

/* The directives of a construct that are for all members, for the record; empty: there are none. */
struct slice pmix_group_shared(struct command *c, const pmix_info_t *infos, size_t n);

/* The records as a reply has them: one info for each member, an array that begins with its name.
 * The list is the caller's (pmix_drop_infos).  False: no memory. */
bool pmix_group_infos(const struct pmix_session *s, struct slice records, pmix_info_t **infos_p,
                      size_t *n_p);

/* The member that called itself the leader (PMIX_GROUP_LEADER); false: none did. */
bool pmix_group_leader(const struct pmix_session *s, struct slice records, pmix_proc_t *leader_p);

/* Puts members into the order that one of them has given (PMIX_GROUP_FINAL_MEMBERSHIP_ORDER); those
 * that it does not name follow.  False: no memory. */
bool pmix_group_reorder(const struct pmix_session *s, struct slice records, pmix_proc_t *procs,
                        size_t n);

/* Whether a get names a group by its context id or its name; if so, the value of a member under
 * that key, in *v_p, which is PMIX_UNDEF when there is none. */
bool pmix_group_value(const struct pmix_session *s, const struct pmsg_get *m, pmix_value_t *v_p);

#endif
