/* pmix_group_list.h - the groups of one client. */
#ifndef WIREUP_SERVER_PMIX_GROUP_LIST_H
#define WIREUP_SERVER_PMIX_GROUP_LIST_H

#include "server/pmix_session.h"

enum {
    GROUP_WITH_CONTEXT = 1, /* its number is a context id, which the members are given */
    GROUP_TOLERANT = 2,     /* a member that has ended does not make its destruct fail */
    GROUP_NOTIFIES = 4,     /* the client is told of members that end */
};

/* A group that this process constructs or has constructed; its destruct message may have only the
 * name. */
struct pmix_group {
    struct list link;
    pmix_proc_t *procs;
    size_t nprocs;
    uint32_t *restarts; /* of each, by then; NULL: not known */
    pmix_proc_t *gone;  /* members that have left, or of whose end the client has been told */
    size_t ngone;
    pmix_proc_t leader;
    bool has_leader;
    bool kept; /* it is one of the session's */
    char *id;
    uint64_t number;
    unsigned flags; /* GROUP_... */
};

struct pmix_group *pmix_group_new(struct slice id);                 /* NULL: no memory */
void pmix_group_free(struct pmix_session *s, struct pmix_group *g); /* NULL is harmless */
void pmix_groups_free(struct pmix_session *s);

/* NULL: the client has none of that name. */
struct pmix_group *pmix_group_find(const struct pmix_session *s, struct slice id);
/* Takes it over: the latest of a name counts.  One too many stays with the caller, and cannot be
 * destructed by its name. */
void pmix_group_keep(struct pmix_session *s, struct pmix_group **g_p);

/* Members that have been started again since are none any more: their new processes know of no
 * group.  Those of a job that is over stay. */
void pmix_group_drop_restarted(const struct pmix_session *s, struct pmix_group *g);
/* As session_ops.job_goes: of all groups, while the job is known.  All nodes drop the same. */
void pmix_groups_drop_restarted(struct session *base);

bool pmix_group_lists(const pmix_proc_t *procs, size_t n, const char *nspace, uint32_t rank);
void pmix_group_note_gone(struct pmix_group *g, const char *nspace, uint32_t rank);

/* The groups of the process at the other end of the connection. */
typedef void pmix_group_fn(void *arg, const struct pmix_group *g);
void pmix_each_group(const struct pmix_session *s, pmix_group_fn *fn, void *arg);

#endif
