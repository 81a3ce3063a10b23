/* pmix_group.h - groups: collectives of their members, which are kept until they are destructed. */
#ifndef WIREUP_SERVER_PMIX_GROUP_H
#define WIREUP_SERVER_PMIX_GROUP_H

#include "server/pmix_group_list.h"

pmix_reader pmix_read_group, pmix_read_ungroup;
pmix_replier pmix_reply_group, pmix_reply_ungroup;

/* The client notifies the members of a group that it leaves: it takes part in the destruct. */
void pmix_group_left(struct command *c, const pmix_info_t *infos, size_t n);

/* As session_ops.follow: the client is told of the end of a member of a group that wants to know.
 */
void pmix_groups_follow(struct session *base, const struct notice *n, bool is_end);

#endif
