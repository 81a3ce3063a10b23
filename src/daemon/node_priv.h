/* node_priv.h - a node, put together of its modules.
 *
 * For node.c, which makes it, and for the two that join it to others: cluster_io.c (daemons) and
 * singleton.c (a process that it did not start).  A module takes its own struct and node_context.h.
 */
#ifndef WIREUP_DAEMON_NODE_PRIV_H
#define WIREUP_DAEMON_NODE_PRIV_H

#include "daemon/allocations.h"
#include "daemon/control.h"
#include "daemon/control_socket.h"
#include "daemon/end_progress.h"
#include "daemon/foreign_jobs.h"
#include "daemon/distant_launchers.h"
#include "daemon/foreign_launchers.h"
#include "daemon/help.h"
#include "daemon/job_control.h"
#include "daemon/job_shutdown.h"
#include "daemon/launcher.h"
#include "daemon/listener.h"
#include "daemon/local_job.h"
#include "daemon/name_query.h"
#include "daemon/node_context.h"
#include "daemon/node_parts.h"
#include "daemon/output.h"
#include "daemon/pending_query.h"
#include "daemon/process.h"
#include "daemon/shutdown.h"
#include "daemon/spawn_growth.h"
#include "daemon/startup_timing.h"
#include "daemon/tool_relay.h"
#include "daemon/tools.h"
#include "daemon/topology.h"
#include "daemon/trace_writer.h"
#include "io/quota.h"
#include "server/effect_host.h"

struct node {
    struct node_config config;
    struct node_context context;
    struct loop loop;
    struct turn turn; /* of the loop: node_settle() */
    struct server server;
    struct effect_host host;
    struct timer promises; /* the next deadline of the core */
    struct watch chld;
    int chld_fd, null_fd;
    char *wdir;
    char hostname[256];
    enum launcher_state state; /* how far the launcher is; a daemon's stays idle */
    struct output output;
    struct topology topology;
    struct quota quota; /* of unauthenticated connections at all listeners */
    struct listener listener;
    struct local_jobs jobs;
    struct processes processes;
    struct launcher launcher;
    struct job_control job_control;
    struct job_shutdown job_shutdown;
    struct shutdown shutdown;
    struct control control;
    struct control_socket control_socket;
    struct name_queries name_queries;
    struct foreign_jobs foreign_jobs;
    struct foreign_launchers foreign_launchers;
    struct distant_launchers distant;
    struct pending_queries pending_queries;
    struct node_parts node_parts;
    struct allocations allocations;
    struct spawn_growths spawn_growths;
    struct trace_writer trace_writer;
    struct startup_timing timing;
    struct tools tools;
    struct tool_relay tool_relay;
    struct help help;
    struct end_progress end_progress;
    struct arena kept; /* a daemon: data from the launcher about all jobs */
};

#endif
