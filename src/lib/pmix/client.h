/* client.h - one process's membership in its job, as PMIx sees it.
 *
 * Everything the library knows between PMIx_Init and PMIx_Finalize.  The functions of this folder
 * take it as their first argument and are called with its lock held; while they wait for the
 * server, or run a callback, they let the lock go.  The ABI (client_api.c) holds the only pointer
 * to one; a test holds many.
 *
 *   client_env, client_hello, client_conn    how to find a server, greet it, and move messages
 *   client_op, client_progress               calls under way; who waits, who runs callbacks
 *   client_info, client_cache                what is known without asking
 *   client_get, client_put, client_fence …   one file for each group of functions
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_H
#define WIREUP_LIB_PMIX_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "lib/common/attach.h"
#include "lib/common/lock.h"
#include "lib/pmix/client_cache.h"
#include "lib/pmix/client_conn.h"
#include "lib/pmix/client_env.h"
#include "lib/pmix/client_event.h"
#include "lib/pmix/client_iof.h"
#include "lib/pmix/client_op.h"
#include "lib/pmix/client_progress.h"
#include "lib/pmix/client_put.h"
#include "pmix.h"
#include "pmix_tool.h"
#include "wire/pmix_command.h"

enum { TAG_EVENT = 0, TAG_HEARTBEAT = 1, TAG_OUTPUT = 2, TAG_FIRST = 101 };

/* A server that we are connected with. */
struct server_link {
    struct list link;
    const struct ptype_flavour *as;
    struct release release; /* of the server */
    pmix_proc_t name;
    uint32_t next_tag;
    bool lost;
    bool quiet;       /* it is our own: it answers only what has to be (OURS_TAG_QUIET) */
    bool open;        /* something may come that nobody waits for: events, output, late answers */
    bool unsure;      /* it may still refuse what was committed last */
    struct conn conn; /* the last, as its stage is */
};

enum client_kind {
    CLIENT_STARTED,   /* by a server */
    CLIENT_SINGLETON, /* by nobody */
    CLIENT_TOOL,
};

struct client {
    struct lock *gate;
    enum client_kind kind;
    pmix_proc_t me;
    size_t name_size; /* of me.nspace, with its NUL, once there is a store */
    char *hostname;
    struct server_link *server; /* where requests go; NULL: nowhere */
    struct list servers;
    struct list groups;        /* that we are in (client_group.c) */
    struct list sent, waiters; /* ops */
    bool reading;              /* somebody has the reader's role */
    bool ending;
    struct progress progress;
    struct attachment store; /* of our own server, or of nothing */
    struct attachment *kept; /* where it goes at the end, for the next client; or NULL */
    struct cache cache;
    struct puts puts;
    struct events events;
    struct outputs outputs;
    /* A host's, in a server's process (client_api.h); NULL: anybody else's. */
    pmix_status_t (*tell_others)(pmix_status_t status, const pmix_proc_t *source,
                                 pmix_data_range_t range, const pmix_info_t *infos, size_t ninfos);
    void (*turn)(void *arg, bool wait); /* wait: for another one who turns */
    int (*turn_fd)(void *arg);          /* readable: turn() has to do; -1: somebody else turns */
    void *turn_arg;
};

/* How a client is to be. */
struct client_options {
    enum progress_kind progress;
    void *event_base;        /* PROGRESS_LOOP */
    struct attachment *kept; /* the store of the client before, or NULL: nothing is kept */
};

/* One way to a server. */
struct client_way {
    const char *uri;      /* or NULL: by fd */
    int fd;               /* inherited; -1 */
    enum hello_flag flag; /* who we say that we are */
    const struct ptype_flavour *as;
    const char *version;  /* of the server, as far as known */
    const char *security; /* its modules, or NULL */
    struct slice infos;   /* for the server */
};

/* Joins the job that env describes.  Called with the gate locked (it may be open meanwhile).
 * PMIX_SUCCESS; PMIX_ERR_UNREACH: *c_p is a client without a server; other: *c_p is NULL. */
pmix_status_t client_start(const struct pmix_env *env, const struct client_options *options,
                           struct lock *gate, struct client **c_p, struct errmsg *err);

/* A tool with this name, or (way->flag says unnamed) the one that its server gives; way NULL:
 * without a server.  As client_start(), but a failure leaves nothing. */
pmix_status_t client_start_tool(const struct client_way *way, const pmix_proc_t *name,
                                const struct client_options *options, struct lock *gate,
                                struct client **c_p, struct errmsg *err);

/* Says goodbye; c is gone afterwards. */
void client_stop(struct client *c);

/* Connects with a server and asks for what is known of our job.  The gate is opened meanwhile.
 * PMIX_SUCCESS: it is one of c->servers, and c->server when that was none. */
pmix_status_t client_connect(struct client *c, const struct client_way *way,
                             struct server_link **s_p, struct errmsg *err);

/* What a server tells of another job: its name, then what is known of it. */
pmix_status_t client_take_job(struct client *c, struct slice bytes, const struct ptype_flavour *as);

/* Frees what a parent process left behind, without a word to anybody. */
void client_abandon(struct client *c);

/* One sentence for people, on standard error. */
void client_say(const struct errmsg *err);

static inline void client_lock(struct client *c)
{
    lock_lock(c->gate);
}

static inline void client_unlock(struct client *c)
{
    lock_unlock(c->gate);
}

static inline bool client_is_me(const struct client *c, const char *nspace, uint32_t rank)
{
    return rank == c->me.rank && strncmp(nspace, c->me.nspace, PMIX_MAX_NSLEN) == 0;
}

#endif
