/* nameservice.h - the name service: service name -> port and publisher.
 *
 * Names belong to one user and launcher, across its jobs.  The same service may be published more
 * than once, each time on another range: who may read an entry is decided by its range, and a
 * look-up may itself be restricted to publishers of a range.  An entry goes with its publisher
 * unless it was published to stay; one that may be read once goes with the first look-up
 * (nameservice_read).  Which jobs and processes end is the caller's business: it removes their
 * entries.
 */
#ifndef WIREUP_CORE_NAMESERVICE_H
#define WIREUP_CORE_NAMESERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/slice.h"
#include "core/answer.h"

/* A process that publishes, or that looks up. */
struct name_proc {
    uint32_t job, rank; /* job: NAME_NO_JOB for a process of another launcher */
    struct slice nspace, node;
    uint32_t uid, gid; /* of one that looks up */
};

enum { NAME_NO_JOB = UINT32_MAX };

struct name_entry {
    struct list link; /* in nameservice.all, the oldest first */
    struct list same; /* in the entries of its service */
    struct slice service, port;
    uint16_t type; /* PMIx data type of the port; 0: characters */
    enum name_persistence persistence;
    struct name_scope scope; /* never NAME_RANGE_DEFAULT */
    struct name_access access;
    struct name_proc owner;
};

struct nameservice {
    struct map by_service; /* struct name_service */
    struct list all;
    struct name_entry *read; /* the last entry that was read once: its bytes are in use */
};

/* A look-up that waits for its name. */
struct nameservice_wait {
    struct list link;
    uint64_t ticket;
    struct nameservice_query *query;
};

void nameservice_wait_free(struct nameservice_wait *w);

/* A request about a name.  Some this launcher alone cannot answer: the host asks its neighbours
 * (other launchers of the same user on this machine). */
enum nameservice_op { NAMESERVICE_LOOKUP, NAMESERVICE_PUBLISH, NAMESERVICE_UNPUBLISH };

const char *nameservice_op_name(enum nameservice_op op); /* "lookup" */

struct nameservice_query {
    enum nameservice_op op;
    uint32_t job, rank; /* the requester */
    bool wait;
    bool found; /* a look-up's answer is filled in: port, type, and the publisher's job and rank */
    bool own;   /* withdraws only names of the requester; no service: all of them */
    enum name_persistence persistence;
    uint64_t deadline_ns; /* UINT64_MAX: none */
    uint64_t timeout_ns;  /* the same, relative to the query; 0: none */
    uint16_t type;
    struct name_scope scope;
    struct name_access access;
    uint32_t uid, gid; /* of one that looks up */
    struct slice service, port;
    uint64_t batch;        /* a look-up that is one of several (name_batch.h) ... */
    uint32_t batch_needed; /* ... of which these are enough ... */
    uint32_t batch_total;  /* ... of so many; 0: it is none */
};

/* A copy with bytes and lists of its own.  NULL: no memory.  free() it. */
struct nameservice_query *nameservice_query_new(const struct nameservice_query *like);

void nameservice_init(struct nameservice *n, uint64_t seed);
void nameservice_free(struct nameservice *n);

/* An entry of the same service and range, which excludes another one like this.  A range of one
 * process, job or node is another one for each. */
const struct name_entry *nameservice_rival(const struct nameservice *n,
                                           const struct name_entry *like);

/* Adds a copy; there is no rival.  0 or -ENOMEM. */
int nameservice_publish(struct nameservice *n, const struct name_entry *like);

/* The entry that who may read, of a publisher in the scope (or, if that is only preferred and has
 * none, of any): of several the one with the narrowest range.  NULL: there is none; *denied_p
 * (unless NULL) tells whether only permissions are missing. */
struct name_entry *nameservice_find(const struct nameservice *n, struct slice service,
                                    const struct name_proc *who, const struct name_scope *scope,
                                    bool *denied_p);

/* Whether anybody has published it. */
bool nameservice_is_used(const struct nameservice *n, struct slice service);

/* The entry of this publisher on this range; without a range, or if it is only preferred and has
 * none, the one of the session, or else the oldest. */
struct name_entry *nameservice_find_own(const struct nameservice *n, struct slice service,
                                        const struct name_proc *owner,
                                        const struct name_scope *scope);

/* The value has been given to a reader: removes an entry that may be read once, whose bytes are
 * valid until the next call. */
void nameservice_read(struct nameservice *n, struct name_entry *e);
void nameservice_remove(struct nameservice *n, struct name_entry *e);

#endif
