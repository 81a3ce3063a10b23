/* client.h - one process's membership in its job, as PMIx sees it.
 *
 * Holds all state between PMIx_Init and PMIx_Finalize.  The functions of this directory take it as
 * their first argument and are called with its lock held; while they wait for the server, or run a
 * callback, they release the lock.  The ABI (client_api.c) holds the only pointer to one; a test
 * holds many.  From the lowest module to the highest:
 *
 *   client_env, client_hello, client_conn    finding a server, the handshake, moving messages
 *   client_info, client_cache                data known without asking the server
 *   client_tasks, client_op                  callbacks that are due; calls under way, who waits
 *   client_progress, client_api              who runs callbacks; the one client of this process
 *   client_get, client_put, client_fence …   one file for each group of functions
 *   client, client_init                      starting and ending; PMIx_Init and PMIx_Finalize
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "lib/common/attach.h"
#include "lib/common/lock.h"
#include "lib/pmix/client/client_cache.h"
#include "lib/pmix/client/client_conn.h"
#include "lib/pmix/client/client_env.h"
#include "lib/pmix/client/client_event.h"
#include "lib/pmix/client/client_iof.h"
#include "lib/pmix/client/client_op.h"
#include "lib/pmix/client/client_progress.h"
#include "lib/pmix/client/client_put.h"
#include "lib/pmix/client/client_stdin.h"
#include "lib/pmix/client/client_tcp.h"
#include "lib/pmix/client/client_thread.h"
#include "lib/pmix/client/client_timer.h"
#include "pmix.h"
#include "pmix_tool.h"
#include "wire/pmix_command.h"

enum { TAG_EVENT = 0, TAG_HEARTBEAT = 1, TAG_OUTPUT = 2, TAG_FIRST = 101 };

/* A server that we are connected to. */
struct server_link {
    struct list link;
    const struct ptype_flavour *as;
    uint32_t release; /* of the server, as pmsg_release() */
    pmix_proc_t name;
    char *uri; /* its address; NULL: unknown */
    uint32_t next_tag;
    bool lost;
    bool asks;             /* it sends requests: we are its scheduler */
    bool quiet;            /* our own server: it replies only where it must (OURS_TAG_QUIET) */
    bool open;             /* unrequested messages may come: events, output, late replies */
    bool unsure;           /* it may still refuse the last commit */
    pmix_status_t refused; /* why it refused a commit that was not waited for; or PMIX_SUCCESS */
    struct conn conn;      /* last, since its stage is last */
};

/* What lower modules tell the client: events for which no call waits, and the lack of a server. */
struct client_notices {
    void (*event)(struct client *c, struct server_link *s, struct slice bytes);
    void (*output)(struct client *c, struct server_link *s, struct slice bytes);
    void (*lost)(struct client *c, struct server_link *s); /* the server is gone */
    /* A message that is no reply to one of ours: what a scheduler is asked.  Takes it over. */
    void (*asked)(struct client *c, struct server_link *s, struct frame *f);
    /* A request is to be sent, and there is no server: PMIX_SUCCESS when there is one now. */
    pmix_status_t (*needed)(struct client *c, uint8_t command);
};

enum client_kind {
    CLIENT_STARTED,   /* by a server */
    CLIENT_SINGLETON, /* by hand */
    CLIENT_TOOL,
};

struct client {
    struct lock *gate;
    const struct client_notices *notices; /* client.c sets it */
    enum client_kind kind;
    pmix_proc_t me;
    size_t name_size; /* of me.nspace, with its NUL, once there is a store */
    char *hostname;
    struct server_link *server; /* where requests go; NULL: nowhere */
    struct list servers;
    pid_t launcher;            /* that a singleton has started, or 0 */
    bool launcher_tried;       /* a singleton starts one once */
    struct list groups;        /* groups that we are in (client_group.c) */
    struct list sent, waiters; /* ops */
    struct op *held;           /* PMIx_Init waits for a debugger (client_debug.h); or NULL */
    bool reading;              /* a thread has the reader's role */
    bool ending;
    struct progress progress;
    struct client_timers timers;
    struct attachment store; /* of our own server, or empty */
    struct attachment *kept; /* where the store goes at the end, for the next client; or NULL */
    struct cache cache;
    struct puts puts;
    struct client_events events;
    struct outputs outputs;
    struct client_stdin input;
    pmix_topology_t topology; /* that PMIX_TOPOLOGY lends; empty until then */
    /* For a host in a server's process (client_api.h); otherwise NULL. */
    pmix_status_t (*notify_others)(pmix_status_t status, const pmix_proc_t *source,
                                   pmix_data_range_t range, const pmix_info_t *infos,
                                   size_t ninfos);
    void (*turn)(void *arg, bool wait); /* wait: for another thread that turns the loop */
    int (*turn_fd)(void *arg); /* readable: turn() has work; -1: another thread turns the loop */
    void (*call_begin)(void *arg); /* a request of a blocking call is sent between these two: */
    void (*call_end)(void *arg);   /* the host's functions run in the caller's thread */
    void (*hand_over)(void *arg, bool flush); /* the server's thread ends too */
    void *turn_arg;
};

/* How to set up a client. */
struct client_options {
    enum progress_kind progress;
    void *event_base; /* PROGRESS_LOOP */
    struct client_thread_cpus cpus;
    struct client_tcp tcp;
    bool shows;              /* PMIX_IOF_LOCAL_OUTPUT */
    struct attachment *kept; /* the previous client's store, or NULL: nothing is kept */
};

/* One way to reach a server. */
struct client_way {
    const char *uri;      /* of the server; NULL: unknown */
    int fd;               /* the connection, inherited; -1: to be made to that address */
    bool own;             /* fd is not inherited: closed at the end */
    enum hello_flag flag; /* the kind of peer that we claim to be */
    const struct ptype_flavour *as;
    const char *version;  /* of the server, as far as known */
    const char *security; /* its security modules, or NULL */
    struct slice infos;   /* for the server */
    struct client_tcp tcp;
};

/* How our own server is spoken to, in a client_way and in a pmix_env. */
#define CLIENT_WAY_OURS .as = ptype_flavour(SLICE("v41")), .version = "5.0.3", .security = "native"

/* Joins the job that env describes.  Called with the lock held (it may be released meanwhile).
 * PMIX_SUCCESS; PMIX_ERR_UNREACH: *c_p is a client without a server; other: *c_p is NULL. */
pmix_status_t client_start(const struct pmix_env *env, const struct client_options *options,
                           struct lock *gate, struct client **c_p, struct errmsg *err);

/* A tool with this name, or (way->flag says unnamed) with the one that its server assigns; way
 * NULL: without a server.  As client_start(), but nothing is left after a failure. */
pmix_status_t client_start_tool(const struct client_way *way, const pmix_proc_t *name,
                                const struct client_options *options, struct lock *gate,
                                struct client **c_p, struct errmsg *err);

/* Finalizes at the server; c is freed. */
void client_stop(struct client *c);

/* Connects to a server and fetches the job info of our namespace.  The lock is released
 * meanwhile. PMIX_SUCCESS: it is one of c->servers, and c->server when that was none. */
pmix_status_t client_connect(struct client *c, const struct client_way *way,
                             struct server_link **s_p, struct errmsg *err);

/* The same for our own server at the other end of way.fd, whose store is read in place. */
pmix_status_t client_connect_ours(struct client *c, struct client_way way, struct errmsg *err);

/* In a forked child: frees the parent's client without sending anything. */
void client_abandon(struct client *c);

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
