/* node_priv.h - shared by the modules of a node: the node itself, its processes and connections. */
#ifndef WIREUP_DAEMON_NODE_PRIV_H
#define WIREUP_DAEMON_NODE_PRIV_H

#include "io/child.h"
#include "io/peer_conn.h"
#include "io/quota.h"
#include "io/memfd.h"
#include "cluster/msg_address.h"
#include "daemon/control.h"
#include "server/effect_host.h"
#include "daemon/control_socket.h"
#include "daemon/help.h"
#include "daemon/job_control.h"
#include "daemon/pending_query.h"
#include "daemon/launcher_state.h"
#include "daemon/node.h"
#include "daemon/process.h"
#include "daemon/trace_writer.h"
#include "daemon/shutdown.h"
#include "daemon/startup_timing.h"
#include "daemon/tools.h"
#include "daemon/topology.h"
#include "daemon/turn.h"

struct node {
    struct node_config config;
    struct loop loop;
    struct turn turn; /* of the loop: node_settle() */
    struct shutdown_calls shutdown;
    struct server server;
    struct effect_host host;
    uint64_t started_ns;
    uid_t uid; /* ours: read once, not for each message */
    struct processes processes;
    struct list works;
    struct topology topology;
    char *wdir;
    struct job_control job_control;
    struct output output;
    struct pump pump;
    int null_fd;
    int *stdin_ends; /* collected while the first job starts */
    uint32_t nstdin_ends;
    struct watch chld;
    int chld_fd;
    struct peer_conns conns;     /* of processes and tools */
    struct peer_conn *singleton; /* of a process that is not our child; NULL: none */
    struct quota quota;          /* of unauthenticated connections at all listeners */
    uint32_t *port_ids;          /* PMI_ID by rank of the first job */
    struct timer starter, promises;
    struct control_socket control_socket;
    struct pending_queries pending_queries;
    struct trace_writer trace_writer;
    struct startup_timing timing;
    struct tools tools;
    struct help help;
    struct control control;
    enum launcher_state launcher; /* how far the launcher is; a daemon's stays idle */
    int exit_code;
    struct errmsg said; /* why the last failed job has ended: others may end for the same reason */
    bool lost_late;     /* the loss of a node at the end has been reported */
    uint32_t first_job;
    const char *given_name;      /* namespace of the next job; NULL: we choose one */
    struct multinode *multinode; /* NULL: this node is alone */
    struct arena kept;           /* a daemon: what the launcher has sent about all jobs */
};

#endif
