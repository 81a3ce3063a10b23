/* pmix_group.h - groups: collectives of their members, which are kept until they are destructed. */
#ifndef WIREUP_SERVER_PMIX_GROUP_H
#define WIREUP_SERVER_PMIX_GROUP_H

#include "server/pmix_group_list.h"

pmix_reader pmix_read_group, pmix_read_ungroup;
pmix_replier pmix_reply_group, pmix_reply_ungroup;

/* The client notifies the members of a group that it leaves: it takes part in the destruct. */
void pmix_group_left(struct command *c, const pmix_info_t *infos, size_t n);

/* From now on this node hears of processes that end anywhere. */
void pmix_subscribe_ends(struct command *c);

/* Tells the client of the end of a process that concerns the group: PMIX_GROUP_MEMBER_FAILED and
 * its like. */
void pmix_group_report(struct pmix_session *s, pmix_status_t code, const struct pmix_group *g,
                       const char *nspace, uint32_t rank);

/* Keeps a group that was not constructed, as its announcement (infos) describes it. */
void pmix_group_adopt(struct pmix_session *s, const char *id, const pmix_proc_t *procs, size_t n,
                      const pmix_proc_t *leader, const pmix_info_t *infos, size_t ninfos);

/* As session_ops.follow: the client is told of the end of a member of a group that wants to know.
 */
void pmix_groups_follow(struct session *base, const struct notice *n, bool is_end);

#endif
