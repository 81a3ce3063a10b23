/* server.h - a PMIx server inside another program, the host.
 *
 * One struct pserver is a node's server: the same sessions and core as in `wireup`
 * (session/server.h), driven by a loop of its own (io/loop_epoll.h), with the host's functions (the
 * module) in the place of our launcher.  The public functions (server_api.c) hold the only pointer
 * to one; a test holds several.
 *
 *   server_conn        what it does about its connections (io/peer_conn.h)
 *   server_space       namespaces: from the host's registrations to a job map and job info
 *   server_module      the host's functions, whatever the size of its module struct
 *   server_ask         calls of the host's functions, and its replies
 *   server_command     commands of clients that the host carries out
 *   server_collective  fences and direct modex: what is exchanged with other nodes
 *   server_iof         output forwarded to clients and tools
 *   server_cleanup     files that are removed with their users' rights
 *   server_env         what a process needs to find us;  server_files  what a tool needs
 *
 * Locking.  All state is protected by s->lock.  Public functions take it, do their work at once,
 * and leave calls of the host in s->calls.  Only the thread that turns the loop runs these, without
 * the lock: so the host may hold locks of its own when it calls us, and may call us from its
 * functions.  The host's replies take the lock like everything else.
 */
#ifndef WIREUP_LIB_PMIX_SERVER_H
#define WIREUP_LIB_PMIX_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/list.h"
#include "base/log.h"
#include "io/loop_epoll.h"
#include "io/memfd.h"
#include "io/peer_conn.h"
#include "io/quota.h"
#include "io/tool_files.h"
#include "pmix_server.h"
#include "session/server.h"
#include "wire/pmix_types.h"

struct effect;
struct request;

/* Work done without the lock, by the thread that turns the loop. */
struct scall {
    struct list link;
    void (*run)(struct scall *c); /* c is its own from now on */
};

/* Who turns the loop. */
enum pserver_progress {
    PSERVER_THREAD,  /* a thread of ours */
    PSERVER_PROGRAM, /* the host calls PMIx_Progress */
    PSERVER_BASE     /* the host's libevent base (PMIX_EVENT_BASE) */
};

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
    uint32_t uid, gid;  /* whose files are cleaned up, if the host said so: else NOT_TOLD */
    struct list infos;  /* struct told: registered infos, until there is a job */
    bool is_registered; /* else only processes of it are expected */
    bool is_own;        /* the host's own */
    bool is_tool;
    bool is_over; /* a tool that has disconnected: it goes at the end of the turn */
};

enum { NOT_TOLD = 0xffffffff };

struct cleanup;

struct pserver {
    pthread_mutex_t lock;
    pthread_cond_t calm; /* no call is running */
    struct server server;
    struct log log;
    struct loop loop;
    struct timer due; /* what the core has to do by a certain time */
    enum pserver_progress progress, wants;
    pthread_t thread; /* THREAD */
    bool stopping;    /* no thread may go on turning the loop … */
    bool ending;      /* … and the host gets no more requests */
    bool turning;     /* the host is turning the loop */
    bool running;     /* calls are running … */
    pthread_t runner; /* … by this thread */
    unsigned asks;    /* calls of the host that are not answered yet */
    bool abandoned;   /* finalized; the last reply frees it */
    void *event_base, *base_event;

    pmix_server_module_t module; /* NULL where the host has no function */
    pmix_server_tool_connection2_fn_t tool_connected2;
    pmix_server_log2_fn_t log2;
    pmix_server_resource_block_fn_t resource_block;

    pmix_proc_t me;
    char *hostname, *tmpdir, *system_tmpdir;
    uid_t uid; /* of the host: its tools are accepted */
    gid_t gid;
    uint32_t told_uid, told_gid; /* as in the options */
    char uri[PMIX_MAX_NSLEN + 64];
    bool serves_tools, is_system, is_session;

    struct quota quota; /* of connections that are not let in */
    struct peer_conns conns;
    bool tool_is_over;              /* one of the namespaces is over */
    struct list spaces;             /* struct nspace */
    struct list calls;              /* struct scall */
    struct tool_file_list contacts; /* server_files.c */
    struct cleanup *cleanup;        /* server_cleanup.h */
    struct list outputs;            /* IOF subscribers: server_iof.c */
    struct list promises;           /* direct modex requests of other nodes: server_collective.c */
    size_t next_ref;
    uint64_t next_promise;
    uint32_t next_tool;
    struct nspace *own;
};

/* Options of the host (all from the infos of PMIx_server_init). */
struct pserver_options {
    enum pserver_progress progress;
    void *event_base;
    const char *nspace;
    uint32_t rank;
    const char *hostname, *tmpdir, *system_tmpdir;
    uint32_t uid, gid; /* whose files are cleaned up, if not their processes' users': or NOT_TOLD */
    bool serves_tools, is_system, is_session;
    const char *report; /* where to report our address: PMIX_TCP_REPORT_URI */
    const char *launcher_file;
};

/* A listening server; its loop runs from now on.  PMIX_SUCCESS, or an error with a sentence. */
pmix_status_t pserver_new(const pmix_server_module_t *module, size_t members,
                          const struct pserver_options *o, struct pserver **s_p,
                          struct errmsg *err);

/* From now on the loop is turned as the host wants it (options). */
pmix_status_t pserver_settle_progress(struct pserver *s);

/* Closes connections, drops namespaces.  Must not be called from one of the host's functions.
 * Returns NULL. */
struct pserver *pserver_free(struct pserver *s);

/* One turn without blocking: for hosts that turn the loop themselves.  wait: if another thread
 * is turning it, waits for that turn to end. */
void pserver_turn(struct pserver *s, bool wait);

/* Readable when a turn has work; -1: another thread does it, or the caller is in one of the
 * host's functions. */
int pserver_turn_fd(struct pserver *s);

/* Whether the caller is in one of the host's functions. */
bool pserver_inside(struct pserver *s);

static inline void pserver_lock(struct pserver *s)
{
    pthread_mutex_lock(&s->lock);
}

/* The last reply of the host has come after pserver_free: frees the memory.  Unlocked. */
void pserver_release(struct pserver *s);

/* Carries out everything that became due, then unlocks. */
void pserver_unlock(struct pserver *s);

/* ---- with the lock held ---------------------------------------------------------------------- */

/* Writes replies, carries out effects, queues calls. */
void pserver_settle(struct pserver *s);

void pserver_add_call(struct pserver *s, struct scall *c);

/* server_conn.c */
int sconn_listen(struct pserver *s); /* 0 or -errno */
/* The connection of a process of another user, which is given the other end.  NULL: no memory. */
struct peer_conn *sconn_new_for(struct pserver *s, int fd, const struct local *l);
void sconn_close_of(struct pserver *s, const struct job *job, uint32_t rank); /* or of all ranks */
struct peer_cred *sconn_cred(const struct peer *p);
/* True if no other connection is that process: it, or a child of it, may connect again. */
bool sconn_may_join(const struct pserver *s, const struct peer *newcomer, const struct job *job,
                    uint32_t rank);
const struct peer *sconn_own(const struct pserver *s); /* the host's own connection; NULL: none */

/* server_space.c */
struct nspace *nspace_find(const struct pserver *s, const char *name);
struct nspace *nspace_make(struct pserver *s, const char *name); /* find or make; NULL: no memory */
void nspace_free(struct pserver *s, struct nspace *n);
void nspace_drop_tools(struct pserver *s); /* frees those of tools that have disconnected */
pmix_status_t nspace_tell(struct pserver *s, struct nspace *n, const pmix_info_t *infos,
                          size_t ninfos);
pmix_status_t nspace_expect(struct pserver *s, struct nspace *n, uint32_t rank, uid_t uid,
                            gid_t gid, void *object);
void nspace_forget(struct pserver *s, struct nspace *n, uint32_t rank);
struct local *nspace_local(const struct nspace *n, uint32_t rank);
struct nspace *nspace_of(const struct pserver *s, const struct job *j);
/* The user whose rights are used to clean up for that rank: as the host has registered it, also
 * after it was deregistered.  False: none. */
bool nspace_rights(const struct nspace *n, uint32_t rank, uid_t *uid_p, gid_t *gid_p);
/* The job, made from what is known by now if necessary; NULL: there is none, or no memory. */
struct job *nspace_job(struct pserver *s, struct nspace *n);
void nspace_settle_all(struct pserver *s); /* makes the jobs that are due */
/* A job of one process that takes part in no collective. */
struct nspace *nspace_of_tool(struct pserver *s, const char *name, uint32_t rank);

/* server_env.c */
pmix_status_t senv_fill(struct pserver *s, const pmix_proc_t *proc, char ***env);

/* server_files.c */
void sfiles_write(struct pserver *s, const struct pserver_options *o);
void sfiles_remove(struct pserver *s);

/* server_module.c */
void smodule_take(struct pserver *s, const pmix_server_module_t *m, size_t members);
/* The number of members the struct surely has; caller: an address in the code that has called
 * us. */
size_t smodule_members(const void *module, const void *caller);

/* server_command.c */
bool command_takes(void *arg, struct peer *p, const struct request *rq, uint64_t ticket,
                   struct answer *a_p);
uint64_t command_mask(const struct pserver *s);

/* server_collective.c */
/* EFFECT_contribute, _modex_request, _modex_reply or _collective_query. */
void meet_effect(struct pserver *s, const struct effect *e);
pmix_status_t meet_request(struct pserver *s, const pmix_proc_t *proc,
                           pmix_dmodex_response_fn_t cbfunc, void *cbdata);
void meet_free(struct pserver *s);

/* server_iof.c: IOF subscribers.  iof_add: the ask's reply gets the number. */
struct ask;
bool iof_add(struct pserver *s, struct ask *a, const struct peer *p);
void iof_follow(struct ask *a, const char *nspace); /* of a job that it has spawned (a->channels) */
void iof_drop(struct pserver *s, const struct peer *p, size_t ref);
pmix_status_t iof_deliver(struct pserver *s, const pmix_proc_t *source, pmix_iof_channel_t channel,
                          const pmix_byte_object_t *bo, const pmix_info_t *infos, size_t ninfos);
void iof_forget(struct pserver *s, const struct peer *p);
void iof_free(struct pserver *s);

#endif
