/* world.h - a launcher without descriptors, for tests: the real server and core, clients that are
 * byte strings, and a host that writes down what it was asked to do.
 *
 * It does what src/daemon/node.c does with sockets and processes, by the same dispatcher
 * (server/effect_host.h): bytes in, effects out, answers written, connections closed.  Nothing
 * waits and nothing has a time of its own, so a whole job is one function call after the other.
 */
#ifndef WIREUP_TESTS_CONVERSATION_WORLD_H
#define WIREUP_TESTS_CONVERSATION_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "server/effect_host.h"

enum {
    WORLD_JOBS = 4,
    WORLD_CLIENTS = 80,
    WORLD_EFFECTS = 64,
    WORLD_ID_BASE = 1000,
    WORLD_STORE = 1 << 20 /* bytes of each job's store */
};

struct world_job {
    struct job *job;
    struct seg_region region;
};

struct client {
    char name[16];
    struct peer *peer; /* NULL: its connection is closed */
    struct world_job *home;
    uint32_t rank;
    bool stranger; /* a PMI_PORT connection: nobody's process until it says who it is */
    bool deaf;     /* does not read */
    bool gone;     /* its process has been reaped */
    bool got_store;
    bool foreign;      /* speaks PMIx, which is not looked into */
    bool ours;         /* was told that it speaks to Wireup */
    struct buf unread; /* received, and not yet looked at */
    uint64_t received;
};

struct world {
    struct server server;
    struct effect_host host;
    struct world_job jobs[WORLD_JOBS];
    uint32_t njobs;
    struct client clients[WORLD_CLIENTS];
    uint32_t nclients;
    struct effect *effects;      /* all that were seen, oldest first; room for WORLD_EFFECTS */
    uint32_t neffects, expected; /* of these, already looked at */
    uint64_t now_ns;
    int64_t id_base; /* PMI_ID of rank 0 of the first job */
};

struct world_job_params {
    const char *nspace;
    const char *clients; /* the letter before the number: "c" gives c0, c1, ... */
    uint32_t nprocs, nodes;
    int64_t universe;
    bool keep_going;
    bool fds;  /* descriptors can travel */
    bool port; /* no connection is inherited: they come as strangers */
    uint32_t parent;
    int64_t id_base; /* of PMI_ID; 0: WORLD_ID_BASE, -1: 0 */
};

/* Called with true before the world takes memory for itself, with false behind it: for tests that
 * refuse memory to the server and to nobody else.  NULL: nobody wants to know. */
extern void (*world_own_memory)(bool begin);

void world_open(struct world *w, const struct log *log);
void world_close(struct world *w);

/* A job whose processes all run and hold a connection.  0 or -ENOMEM. */
int world_job(struct world *w, const struct world_job_params *p);
/* A connection that has to say who it is.  NULL: no memory. */
struct client *world_stranger(struct world *w, const char *name);
struct client *world_client(struct world *w, struct slice name);

/* Each of these carries out everything that follows from it. */
void world_send(struct world *w, struct client *c, struct slice bytes);
void world_hangup(struct world *w, struct client *c);
/* The process ends, by itself or by a signal; what it held is closed first. */
void world_end(struct world *w, struct client *c, bool signalled, int code);
/* It ends, and its connection stays open. */
void world_reap(struct world *w, struct client *c, int code);
void world_listen(struct world *w, struct client *c, bool deaf);
void world_settle(struct world *w);

/* The host answers the oldest spawn request. */
bool world_answer_spawn(struct world *w, const struct answer *a);

/* How often the job was to be killed, and has ended, as far as the effects seen tell. */
uint32_t world_kills(const struct world *w, const struct job *j);
uint32_t world_ends(const struct world *w, const struct job *j);

/* Everybody who is still there hangs up and leaves; afterwards every job has to have ended. */
void world_end_all(struct world *w);

#endif
