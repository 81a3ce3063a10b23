/* server.h - a PMIx server inside another program, the host.
 *
 * One struct pserver is a node's server: the same sessions and core as in `wireup`
 * (server/server.h), driven by a loop of its own (io/loop_epoll.h), with the host's functions (the
 * module) in the place of our launcher.  The public functions (server_instance.h) hold the only
 * pointer to one; a test holds several.
 *
 *   server_turn        its lock, the calls of the host that are due, and turning its loop
 *   server_conn        its functions for connections (io/peer_conn.h)
 *   server_space       namespaces: registered by the host (server_infos); from these the job
 *                      map (server_map) and the job info (server_info) are made
 *   server_module      the host's functions, whatever the size of its module struct
 *   server_ask         calls of the host's functions, and its replies
 *   server_command     requests of clients that the host carries out or learns of: who connects
 *                      (server_admission), with which rights (server_identity), the functions by
 *                      command (server_host_call), clients of PMI-1 and PMI-2 (server_plain)
 *   server_collective  fences and direct modex: exchange with other nodes (server_directives)
 *   server_iof         output forwarded to clients and tools
 *   server_cleanup     files that are removed with their users' rights
 *   server_instance    the one server of a process; its options (server_options), the host's own
 *                      connection (server_own); server_api and server_sets are the other public
 *                      functions
 *   server_env         variables by which a process finds us;  server_files  files for tools
 *   server_setup       an application's environment on all nodes (server_envars)
 *   server_resources   data for all jobs, and what nodes have (server_inventory)
 *
 * Locking.  All state is protected by s->lock.  Public functions take it, do their work at once,
 * and leave calls of the host in s->calls.  Only the thread that turns the loop runs these, without
 * the lock: so the host may hold locks of its own when it calls us, and may call us from its
 * functions.  What a blocking call of the host itself leads to is run by its own thread before it
 * waits (pserver_run_own): the lock that it holds, of an interpreter, may be one that its functions
 * take.  The host's replies take the lock like everything else.
 */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_H

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
#include "lib/pmix/client/client_thread.h"
#include "pmix_server.h"
#include "server/effect_host.h"
#include "wire/pmix_types.h"

struct effect;
struct pserver;

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

enum { ID_UNSET = 0xffffffff };

struct cleanup;
struct nspace;

struct pserver {
    pthread_mutex_t lock;
    pthread_cond_t calm; /* no call is running */
    struct server server;
    struct effect_host host;           /* effects, answers and deadlines; server.c has the table */
    void (*turned)(struct pserver *s); /* at the end of each turn */
    struct log log;
    struct loop loop;
    struct timer due; /* the next deadline of the core */
    enum pserver_progress progress, wants;
    pthread_t thread; /* THREAD */
    struct client_thread_cpus cpus;
    bool stopping;     /* no thread may go on turning the loop … */
    bool ending;       /* … and the host gets no more requests */
    bool turning;      /* the host is turning the loop */
    bool running;      /* calls are running … */
    pthread_t runner;  /* … by this thread */
    unsigned own_runs; /* threads that run calls for their own requests */
    unsigned asks;     /* calls of the host that are not answered yet */
    bool abandoned;    /* finalized; the last reply frees it */
    void *event_base, *base_event;

    pmix_server_module_t module; /* NULL where the host has no function */
    pmix_server_tool_connection2_fn_t tool_connected2;
    pmix_server_log2_fn_t log2;
    pmix_server_resource_block_fn_t resource_block;

    pmix_proc_t me;
    char *hostname, *tmpdir, *system_tmpdir;
    uid_t uid; /* of the host: its tools are accepted */
    gid_t gid;
    uint32_t host_uid, host_gid; /* as in the options */
    char uri[PMIX_MAX_NSLEN + 64];
    bool serves_tools, is_system, is_session, is_scheduler, is_controller, is_gateway;

    struct quota quota; /* of connections that are not let in */
    struct peer_conns conns;
    bool tool_is_over;              /* one of the namespaces is over */
    struct list spaces;             /* struct nspace */
    struct list calls;              /* struct scall */
    struct tool_file_list contacts; /* server_files.c */
    struct cleanup *cleanup;        /* server_cleanup.h */
    struct list outputs;            /* IOF subscribers: server_iof.c */
    struct list promises;           /* direct modex requests of other nodes: server_collective.c */
    struct list resources;          /* struct registered_info: for all jobs */
    struct list inventory;          /* struct registered_info: of nodes */
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
    uint32_t uid, gid; /* whose files are cleaned up, if not their processes' users': or ID_UNSET */
    bool serves_tools, is_system, is_session, is_scheduler, is_controller, is_gateway;
    bool shares_topology;
    const char *report; /* where to report our address: PMIX_TCP_REPORT_URI */
    const char *launcher_file;
    int32_t port;          /* to listen on; 0: any */
    pmix_proc_t singleton; /* that the host was started for; without a name: none */
    struct client_thread_cpus cpus;
};

/* A listening server; its loop runs from now on.  PMIX_SUCCESS, or an error with a sentence. */
pmix_status_t pserver_new(const pmix_server_module_t *module, size_t members,
                          const struct pserver_options *o, struct pserver **s_p,
                          struct errmsg *err);

/* Closes connections, drops namespaces.  Must not be called from one of the host's functions.
 * Returns NULL. */
struct pserver *pserver_free(struct pserver *s);

static inline void pserver_lock(struct pserver *s)
{
    pthread_mutex_lock(&s->lock);
}

/* With the lock held: a namespace ends, as if the host had deregistered it. */
void pserver_drop_space(struct pserver *s, struct nspace *n);

#endif
