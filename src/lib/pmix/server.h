/* server.h - a PMIx server inside somebody else's program: the host.
 *
 * One struct pserver is a node's server: the sessions and the core that `wireup` has too
 * (session/server.h), driven by a loop of its own, with the host's functions (the module) in the
 * place of our launcher.  The public functions (server_api.c) hold the only pointer to one; a test
 * holds several.
 *
 *   server_loop      epoll: descriptors, one timer, one wake-up
 *   server_conn      the port, connections, who is behind them
 *   server_space     jobs: from what the host registers to a plan and facts
 *   server_module    the host's functions, however long the struct is that holds them
 *   server_call      calls of the host's functions, and its answers
 *   server_command   commands of clients that the host carries out
 *   server_meet      fences and direct modex: what is exchanged with other nodes
 *   server_cleanup   files that are cleared up with their users' rights
 *   server_env       what a process needs to find us;  server_files  what a tool needs
 *
 * Locking.  All state is under s->lock.  Public functions take it, do their work at once, and leave
 * what is to be told to the host in s->calls.  Only the one who turns the loop runs calls, without
 * the lock: so the host may hold locks of its own when it calls us, and may call us from its
 * functions.  The host's answers take the lock like everything else.
 */
#ifndef WIREUP_LIB_PMIX_SERVER_H
#define WIREUP_LIB_PMIX_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/list.h"
#include "base/log.h"
#include "io/tool_files.h"
#include "io/peer_cred.h"
#include "io/quota.h"
#include "io/memfd.h"
#include "lib/pmix/server_loop.h"
#include "pmix_server.h"
#include "session/server.h"
#include "wire/pmix_types.h"

/* Something to be done without the lock, by who turns the loop. */
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

/* A process that is expected here. */
struct local {
    struct list link;
    struct nspace *space;
    uint32_t rank;
    uid_t uid;
    gid_t gid;
    void *object;   /* the host's */
    bool is_known;  /* to the job: it counts as started */
    bool finalized; /* has said goodbye */
    bool sweeps;    /* has registered something for clearing up: its user is remembered */
};

/* A job, as the host has registered it; the core's job is made when enough is known. */
struct nspace {
    struct list link;
    char name[PMIX_MAX_NSLEN + 1];
    int nlocal; /* -1: not known */
    struct job *job;
    struct memfd store;
    struct list locals;
    struct list former; /* struct local: those forgotten that have files to be cleared up */
    uint32_t uid, gid;  /* whose files are cleared up, where the host tells: else NOT_TOLD */
    struct list infos;  /* struct told: what was registered, until there is a job */
    bool is_registered; /* else only processes of it are expected */
    bool is_own;        /* the host's own */
    bool is_tool;
};

enum { NOT_TOLD = 0xffffffff };

struct sconn;
struct cleanup;

struct pserver {
    pthread_mutex_t lock;
    pthread_cond_t calm; /* no call is running */
    struct server server;
    struct log log;
    struct sloop loop;
    enum pserver_progress progress, wants;
    pthread_t thread; /* THREAD */
    bool stopping;    /* nobody is to go on turning the loop … */
    bool ending;      /* … and the host is asked for nothing any more */
    bool turning;     /* the host, just now */
    bool running;     /* calls, just now … */
    pthread_t runner; /* … by this thread */
    unsigned asks;    /* of the host's, that are not answered yet */
    bool abandoned;   /* gone; the last answer frees it */
    void *event_base, *base_event;

    pmix_server_module_t module; /* NULL where the host has nothing */
    pmix_server_tool_connection2_fn_t tool_connected2;
    pmix_server_log2_fn_t log2;
    pmix_server_resource_block_fn_t resource_block;

    pmix_proc_t me;
    char *hostname, *tmpdir, *system_tmpdir;
    uid_t uid; /* of the host: whose tools are let in */
    gid_t gid;
    uint32_t told_uid, told_gid; /* as in the options */
    uint16_t port;
    char uri[PMIX_MAX_NSLEN + 64];
    bool serves_tools, is_system, is_session;

    int listen_fd;
    int spare_fd; /* given up for a moment when there are no descriptors left */
    struct swatch listener;
    uint64_t port_rests_until;      /* UINT64_MAX: it does not */
    struct quota quota;             /* lines about users that the host has not registered */
    struct list conns, graves;      /* struct sconn */
    struct list spaces;             /* struct nspace */
    struct list calls;              /* struct scall */
    struct tool_file_list contacts; /* server_files.c */
    struct cleanup *cleanup;        /* server_cleanup.h */
    struct list outputs;            /* who wants output: server_iof.c */
    struct list promises;           /* direct modexes of other nodes: server_collective.c */
    size_t next_ref;
    uint64_t next_promise;
    uint32_t next_tool;
    struct nspace *own;
};

/* What a host may say at the start (all from the infos of PMIx_server_init). */
struct pserver_options {
    enum pserver_progress progress;
    void *event_base;
    const char *nspace;
    uint32_t rank;
    const char *hostname, *tmpdir, *system_tmpdir;
    uint32_t uid, gid; /* whose files jobs clear up, if not those of their processes: or NOT_TOLD */
    bool serves_tools, is_system, is_session;
    const char *report; /* where to tell our address: PMIX_TCP_REPORT_URI */
    const char *launcher_file;
};

/* A server that listens; its loop is turned from now on.  PMIX_SUCCESS, or an error with a
 * sentence. */
pmix_status_t pserver_new(const pmix_server_module_t *module, size_t members,
                          const struct pserver_options *o, struct pserver **s_p,
                          struct errmsg *err);

/* From now on the loop is turned as the host wants it (options). */
pmix_status_t pserver_settle_progress(struct pserver *s);

/* Connections are closed, jobs forgotten.  The caller is not in a call of the host's.  NULL. */
struct pserver *pserver_free(struct pserver *s);

/* In a forked child: gives memory and descriptors back, without a word to anybody. */
void pserver_abandon(struct pserver *s);

/* One turn without waiting for news: for hosts that turn the loop themselves.  wait: when another
 * thread does so just now, until it has. */
void pserver_turn(struct pserver *s, bool wait);

/* Readable when a turn has something to do; -1: somebody else sees to that, or the caller is in a
 * call of the host's. */
int pserver_turn_fd(struct pserver *s);

/* The caller is in a call of the host's. */
bool pserver_inside(struct pserver *s);

static inline void pserver_lock(struct pserver *s)
{
    pthread_mutex_lock(&s->lock);
}

/* The last answer of the host's has come after pserver_free: frees the memory.  Unlocked. */
void pserver_release(struct pserver *s);

/* Everything that became due is carried out before. */
void pserver_unlock(struct pserver *s);

/* ---- with the lock held ---------------------------------------------------------------------- */

/* Answers are written, effects carried out, calls queued. */
void pserver_settle(struct pserver *s);

void pserver_add_call(struct pserver *s, struct scall *c);

/* server_conn.c */
/* One that has come by the port, and by whom. */
void sconn_came(struct sconn *c, const struct peer_cred *cred);
void sconn_close_all(struct pserver *s);
struct sconn *sconn_new(struct pserver *s, int fd, struct job *job, uint32_t rank,
                        bool can_pass_fd);
/* The same for a process of another user, which is given the other end. */
struct sconn *sconn_new_for(struct pserver *s, int fd, const struct local *l);
void sconn_close_of(struct pserver *s, const struct job *job, uint32_t rank); /* or of all ranks */
void sconn_flush(struct sconn *c);
void sconn_bury(struct pserver *s);
void sconn_forget_job(struct pserver *s, const struct job *job); /* it goes */
/* Bytes that a request of it takes until the host has carried it out. */
void sconn_hold(const struct peer *p, size_t n);
void sconn_let_go(const struct peer *p, size_t n);
struct peer_cred *sconn_cred(const struct peer *p);
/* Nobody else is that process: it, or a child of it, may connect again. */
bool sconn_may_join(const struct pserver *s, const struct peer *newcomer, const struct job *job,
                    uint32_t rank);
const struct peer *sconn_own(const struct pserver *s); /* the host's; NULL: it has none */

/* server_space.c */
struct nspace *nspace_find(const struct pserver *s, const char *name);
struct nspace *nspace_make(struct pserver *s, const char *name); /* finds it too; NULL: no memory */
void nspace_free(struct pserver *s, struct nspace *n);
pmix_status_t nspace_tell(struct pserver *s, struct nspace *n, const pmix_info_t *infos,
                          size_t ninfos);
pmix_status_t nspace_expect(struct pserver *s, struct nspace *n, uint32_t rank, uid_t uid,
                            gid_t gid, void *object);
void nspace_forget(struct pserver *s, struct nspace *n, uint32_t rank);
struct local *nspace_local(const struct nspace *n, uint32_t rank);
struct nspace *nspace_of(const struct pserver *s, const struct job *j);
/* Whose rights clearing up for that rank has: as the host has registered it, also once it is
 * forgotten.  False: nobody's. */
bool nspace_rights(const struct nspace *n, uint32_t rank, uid_t *uid_p, gid_t *gid_p);
/* The job, made from what is known by now if it must be; NULL: there is none, or no memory. */
struct job *nspace_job(struct pserver *s, struct nspace *n);
void nspace_settle_all(struct pserver *s); /* makes the jobs that wait for being needed */
/* A job of one process that takes part in nothing. */
struct nspace *nspace_of_tool(struct pserver *s, const char *name, uint32_t rank);

/* server_port.c */
int sport_open(struct pserver *s); /* 0 or -errno */
void sport_close(struct pserver *s);
void sport_look_again(struct pserver *s); /* a descriptor has been closed */
/* When it wants to be called again; UINT64_MAX: never. */
uint64_t sport_tick(struct pserver *s, uint64_t now_ns);
/* peer_cred_read(), or peer_cred_check() where it is known, also without descriptors. */
int sport_ask(struct pserver *s, int fd, const struct peer_cred *known, struct peer_cred *c_p);

/* server_env.c */
pmix_status_t senv_fill(struct pserver *s, const pmix_proc_t *proc, char ***env);

/* server_files.c */
void sfiles_write(struct pserver *s, const struct pserver_options *o);
void sfiles_remove(struct pserver *s);

/* server_module.c */
void smodule_take(struct pserver *s, const pmix_server_module_t *m, size_t members);
/* How many members the struct surely has; caller: an address in the code that has called us. */
size_t smodule_members(const void *module, const void *caller);

/* server_command.c */
bool command_takes(void *arg, struct peer *p, const struct request *rq, uint64_t ticket,
                   struct answer *a_p);
uint64_t command_mask(const struct pserver *s);

/* server_collective.c */
bool meet_effect(struct pserver *s, struct effect *e); /* false: not its business */
pmix_status_t meet_request(struct pserver *s, const pmix_proc_t *proc,
                           pmix_dmodex_response_fn_t cbfunc, void *cbdata);
void meet_free(struct pserver *s);

/* server_iof.c: who wants output.  iof_add: the ask's reply gets the number. */
struct ask;
bool iof_add(struct pserver *s, struct ask *a, const struct peer *p);
void iof_follow(struct ask *a, const char *nspace); /* of a job that it has spawned (a->channels) */
void iof_drop(struct pserver *s, const struct peer *p, size_t ref);
pmix_status_t iof_deliver(struct pserver *s, const pmix_proc_t *source, pmix_iof_channel_t channel,
                          const pmix_byte_object_t *bo, const pmix_info_t *infos, size_t ninfos);
void iof_forget(struct pserver *s, const struct peer *p);
void iof_free(struct pserver *s);

#endif
