/* server_space.h - namespaces of a server, and the processes of them that are expected on this
 * node. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_SPACE_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_SPACE_H

#include "lib/pmix/server/server.h"

/* A process that is expected on this node. */
struct local {
    struct list link;
    struct nspace *space;
    uint32_t rank;
    uid_t uid;
    gid_t gid;
    void *object;   /* the host's */
    bool is_known;  /* to the job: it counts as started */
    bool finalized; /* has finalized */
    bool cleanups;  /* has registered files for cleanup: its user is remembered */
};

/* A namespace, as the host has registered it; the core's job is made when enough is known. */
struct nspace {
    struct list link;
    char name[PMIX_MAX_NSLEN + 1];
    int nlocal; /* -1: not known */
    struct job *job;
    struct memfd store;
    struct list locals;
    struct list former; /* struct local: deregistered ones that still have files to clean up */
    uint32_t uid, gid;  /* whose files are cleaned up, if the host said so: else ID_UNSET */
    struct list infos;  /* struct registered_info: until there is a job */
    struct list setup;  /* struct registered_info: changes of its processes' environments */
    bool is_registered; /* else only processes of it are expected */
    bool is_own;        /* the host's own */
    bool is_singleton;  /* its job is made when it is needed, also without a registration */
    bool is_tool;
    bool is_over; /* a tool that has disconnected: it goes at the end of the turn */
};

struct nspace *nspace_find(const struct pserver *s, const char *name);
struct nspace *nspace_make(struct pserver *s, const char *name); /* find or make; NULL: no memory */
/* Its processes leave its job, as if the host had deregistered each; the effects of that need the
 * namespace. */
void nspace_leave(struct pserver *s, struct nspace *n);
/* It has no connections any more. */
void nspace_free(struct pserver *s, struct nspace *n);
pmix_status_t nspace_add(struct pserver *s, struct nspace *n, const pmix_info_t *infos,
                         size_t ninfos);
/* One info for its processes, of a host that may register it later. */
pmix_status_t nspace_add_info(struct nspace *n, const pmix_info_t *info);
pmix_status_t nspace_expect(struct pserver *s, struct nspace *n, uint32_t rank, uid_t uid,
                            gid_t gid, void *object);
/* A namespace of one process, of the host's own user, that runs already. */
pmix_status_t nspace_singleton(struct pserver *s, const pmix_proc_t *p);
/* A process, whose connections are closed, is deregistered. */
void nspace_forget(struct pserver *s, struct nspace *n, uint32_t rank);
struct local *nspace_local(const struct nspace *n, uint32_t rank);
struct nspace *nspace_of(const struct pserver *s, const struct job *j);
/* The user whose rights are used to clean up for that rank: as the host has registered it, also
 * after it was deregistered.  False: none. */
bool nspace_rights(const struct nspace *n, uint32_t rank, uid_t *uid_p, gid_t *gid_p);
/* The job, made from the registrations so far if necessary; NULL: there is none, or no memory. */
struct job *nspace_job(struct pserver *s, struct nspace *n);
void nspace_settle_all(struct pserver *s); /* makes the jobs that are due */
/* A job of one process that takes part in no collective. */
struct nspace *nspace_of_tool(struct pserver *s, const char *name, uint32_t rank);

#endif
