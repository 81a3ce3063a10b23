/* process.h - one process of this node: how it is started, its connection, its streams.
 *
 * A task exists from before the process is started until the process has been reaped, its output
 * read and its connection closed.  It belongs to its node.
 */
#ifndef WIREUP_DAEMON_PROCESS_H
#define WIREUP_DAEMON_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/map.h"
#include "core/proc_state.h"
#include "daemon/own_libraries.h"
#include "daemon/pmi_offer.h"
#include "daemon/stdin_push.h"
#include "io/streams.h"

struct job;
struct listener;
struct local_jobs;
struct node_context;
struct peer_conn;
struct processes;

struct task {
    struct list link; /* in struct processes */
    struct processes *all;
    struct job *job;
    uint32_t rank;
    pid_t pid;
    bool ended;             /* reaped */
    struct peer_conn *conn; /* inherited; NULL: closed, or it has none (PMI_PORT) */
    struct source out, err;
    struct stdin_push in; /* data that others push to it */
    struct buf label;
};

/* Functions of the owner about processes. */
struct process_calls {
    /* The job cannot run as planned, because of this rank; code: the job's. */
    void (*cannot_run)(void *arg, struct job *job, uint32_t rank, int code, const char *why);
    /* The loader's line of a process whose program never started. */
    void (*unloaded)(void *arg, struct job *job, uint32_t rank, struct slice line);
    void *arg;
};

struct processes_config {
    const struct node_context *context;
    const struct local_jobs *jobs;
    struct listener *listener; /* of their connections */
    const char *uri;           /* of our server, for PMIx clients; it may be set later */
    struct process_calls calls;
};

/* Those of a node. */
struct processes {
    struct processes_config config;
    uint64_t started_ns; /* of the node, for the time in labels */
    struct list all;
    struct map by_pid;      /* not yet reaped */
    struct arena env_arena; /* while one is started */
    struct elf_cache files; /* that programs load */
};

void processes_open(struct processes *p, uint64_t seed, const struct processes_config *config);
void processes_close(struct processes *p); /* process_close() of all, and its own memory */

/* process_close() of all. */
void processes_end(struct processes *p);

/* The process with that number that has not been reaped, or NULL. */
struct task *processes_find(const struct processes *p, pid_t pid);

/* Before that rank is started: its program may have to be loaded first (prefork.h).  True: its job
 * waits for that. */
bool process_load(struct processes *p, struct job *job, uint32_t rank);

/* Starts the process of one rank.  Its end of the input pump (or -1) goes to *stdin_p if the rank
 * gets our standard input.  0; or -errno with the sentence, which cannot_run() was called with.
 */
int process_start(struct processes *p, struct job *job, uint32_t rank, int *stdin_p,
                  struct errmsg *err);

/* Signals the whole process group; does nothing once the process has been reaped. */
void process_signal(struct task *t, int sig);

/* Bytes (empty: EOF) for the standard input of processes of this node; ticket 0: no answer wanted.
 * False: none of them takes input, and there will be no answer. */
bool process_input(struct processes *p, const struct job *j, uint32_t rank, struct slice bytes,
                   uint64_t ticket);

/* The process has been reaped.  The bytes that it sent before are handled first.  Its rank may be
 * started again; t is gone then. */
void process_ended(struct task *t, int wait_status);

/* EFFECT_restart: starts the process of a rank again that has ended (how: EXIT or DEATH, with its
 * code or signal; HANGUP: with its node), as the job has decided. */
void process_restart(struct processes *p, struct job *job, uint32_t rank, enum proc_event how,
                     int code);

/* Reads the rest from the pipes and releases everything. */
void process_close(struct task *t);

#endif
