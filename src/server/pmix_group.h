/* pmix_group.h - groups: collectives of their members, which are kept until they are destructed. */
#ifndef WIREUP_SERVER_PMIX_GROUP_H
#define WIREUP_SERVER_PMIX_GROUP_H

#include "server/pmix_session.h"

/* A group that this process has constructed; its destruct message has only the name. */
struct pmix_group {
    struct list link;
    pmix_proc_t *procs;
    size_t nprocs;
    char *id;
};

pmix_reader pmix_read_group, pmix_read_ungroup;
pmix_replier pmix_reply_group;
void pmix_groups_free(struct pmix_session *s);

#endif
