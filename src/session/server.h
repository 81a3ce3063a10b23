/* server.h - the one place where connections, core and host meet.
 *
 * A session turns bytes into requests, the core decides on them, the host (launcher, daemon, or a
 * test) carries out the effects.  The server moves things between these three and does nothing
 * else; it has no file descriptor and no clock.  Cores do not call cores.
 *
 * The host's loop, for each input:
 *     server_input / server_hangup / server_event ...
 *     while (server_effect(...)) carry it out;
 *     while ((p = server_dirty(...))) write p->out, close if p->closing;
 */
#ifndef WIREUP_SESSION_SERVER_H
#define WIREUP_SESSION_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/log.h"
#include "core/core.h"
#include "session/session.h"

struct effect;
struct record;
struct request;

/* Takes a record while it is being made: everything in it is borrowed.  It sets the time when that
 * is 0. */
typedef void server_recorder(void *arg, struct record *r);

struct server {
    struct core core;
    struct list events; /* struct kept_event, the oldest first */
    uint32_t nevents;
    bool heeds; /* EFFECT_subscribe_exits has been sent */
    size_t event_bytes;
    struct list outputs; /* struct kept_output, the oldest first */
    size_t output_bytes;
    struct list monitors; /* struct monitor, of heartbeats */
    struct list peers;
    struct list dirty;
    struct map by_id;
    uint32_t next_id;
    const struct log *log;
    /* PMI_PORT connections: finds the process for an id; false: unknown.  May be NULL. */
    bool (*identify)(void *arg, int64_t id, struct job **job_p, uint32_t *rank_p);
    /* A connection identifies itself as a process that is connected already: whether it may,
     * because the same process, or a child of it, holds the other end.  NULL: it may. */
    bool (*admit)(void *arg, const struct peer *newcomer, const struct job *job, uint32_t rank);
    void *arg;
    /* A host that carries out some requests itself sees each one first.  True: it has taken the
     * request, *a_p is its answer (ANSWER_LATER: server_answer() will bring it). May be NULL. */
    bool (*takes)(void *arg, struct peer *p, const struct request *rq, uint64_t ticket,
                  struct answer *a_p);
    uint64_t host_commands;    /* of PMIx; for new connections (session.h) */
    server_recorder *recorder; /* NULL: no trace */
    void *recorder_arg;
};

void server_init(struct server *s, uint64_t seed, const struct log *log);
void server_free(struct server *s);

/* ---- tracing (server_host.c) --------------------------------------------------------------------
 * For a trace to be replayed, the host passes everything to the server, and not to the core: by the
 * functions below, from its beginning to its end. */

/* Every later record goes to fn, the first one (`begin`) at once. */
void server_record(struct server *s, server_recorder *fn, void *arg, uint64_t wall_ns,
                   const char *node);
void server_record_end(struct server *s); /* harmless without a trace */

/* ---- jobs (server_host.c): as the functions of core and job that they call ------------------- */
struct job *server_job_add(struct server *s, const char *nspace, struct job_map *plan,
                           struct seg_region *region, uint32_t parent, bool keep_going);
struct job *server_job_order(struct server *s, const struct job_order *o);
void server_job_remove(struct server *s, struct job *j);
void server_preset(struct server *s, struct job *j, struct slice key, struct slice value);
/* A process that has been started has its pid in j->procs already. */
void server_event(struct server *s, struct job *j, uint32_t rank, enum proc_event event, int code);
void server_abort(struct server *s, struct job *j, uint32_t culprit, int exit_code,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
void server_abort_connected(struct server *s, struct job *j);
/* As job_blame(). */
void server_blame(struct server *s, struct job *j, int exit_code, const char *reason);
/* The neighbours have answered EFFECT_names. */
void server_names_heard(struct server *s, uint64_t ticket, const struct nameservice_query *q,
                        bool found, struct slice port);
/* Time has passed: answers what is due, and returns when something becomes due next (UINT64_MAX:
 * nothing is pending).  Needed when the time that server_due() names has come. */
uint64_t server_tick(struct server *s, uint64_t now_ns);
static inline uint64_t server_due(const struct server *s)
{
    return s->core.effects.tick_ns;
}
/* A neighbour withdraws a name. */
enum answer_status server_unpublish(struct server *s, struct slice service);

/* ---- other nodes (server_host.c) ----------------------------------------------------------------
 * The calls of a host whose jobs are on several nodes (docs/design/nodes.md); the messages to other
 * nodes are in core/effect.h.  On a node that does not control the job, server_abort() is the order
 * of the one that does. */

/* EFFECT_contribute is over: what the other nodes have contributed (this node's block may be among
 * it; several may follow each other in one buffer), or why it failed. */
void server_completed(struct server *s, const struct coll_id *id, enum answer_status status,
                      const struct slice *blocks, uint32_t nblocks);
/* EFFECT_modex_request is answered: the block of EFFECT_modex_reply there, or why there is none. */
void server_fetched(struct server *s, struct job *j, uint32_t rank, enum answer_status status,
                    struct slice block);
/* Another node's EFFECT_modex_request for a rank of this one; EFFECT_modex_reply answers, now or
 * later. timeout_ns 0: none.  The ticket is the host's own. */
void server_fetch(struct server *s, struct job *j, uint32_t rank, struct slice key,
                  uint64_t timeout_ns, uint64_t ticket, uint64_t now_ns);
/* Another node's EFFECT_names, for the one that keeps the names; EFFECT_reply answers, and there
 * server_answer(). */
void server_ask(struct server *s, struct job *j, const struct nameservice_query *q, uint64_t ticket,
                uint64_t now_ns);
/* Another node's EFFECT_subscribe_exits: the exits kept, for its server_notify(). */
typedef void server_end_fn(void *arg, const struct notice *n);
void server_kept_ends(const struct server *s, server_end_fn *fn, void *arg);
/* Another node's EFFECT_collective_query; and its answer there. */
bool server_round(struct server *s, struct job *j, uint32_t rank, const struct coll_id *id);
void server_round_heard(struct server *s, struct job *j, uint32_t rank, const struct coll_id *id,
                        bool will_complete);

/* ---- connections ----------------------------------------------------------------------------- */

/* A connection of the job's rank; job NULL: it will identify itself.  can_pass_fd: file descriptors
 * can travel on it.  NULL: no memory. */
struct peer *server_peer_new(struct server *s, struct job *job, uint32_t rank, bool can_pass_fd,
                             void *host);
/* The server sends the first message on it: a program that was started by hand waits for it.  0 or
 * -ENOMEM. */
int server_greet_singleton(struct server *s, struct peer *p);
/* Closes without notifying anybody; the host has closed its file descriptor.  Returns NULL. */
struct peer *server_peer_free(struct server *s, struct peer *p);

/* EFFECT_tool: the tool is the last process of this job of its own (which the host has made for it,
 * and removes when it ends: EFFECT_job_ended); NULL: it is refused, for that reason.  False: it has
 * disconnected meanwhile. */
bool server_admit(struct server *s, uint64_t ticket, struct job *job, enum answer_status why,
                  uint64_t now_ns);

/* Another user than that of this process manager writes on the connection: it loses the rights of
 * the launcher's user for good (rights.h). Called before the bytes are given to server_input(). */
void server_lessen(struct server *s, struct peer *p);

/* Bytes arrived.  Requests are decided at once; answers wait in p->out. */
void server_input(struct server *s, struct peer *p, struct slice bytes, uint64_t now_ns);

/* The other end is closed: nothing more will come. */
void server_hangup(struct server *s, struct peer *p);

/* An event from a source without a connection here (another node's EFFECT_event, or one of the host
 * itself, with its own name): goes to every client concerned. */
void server_notify(struct server *s, const struct notice *n);

/* On the node that controls the job: a node of its plan is lost.  Clients that registered for that
 * are notified, on all nodes.  (The processes there are reported by server_event().) */
void server_node_down(struct server *s, const struct job *j, uint32_t node);

/* A process has written something (empty: end of its output) to a channel (1 << descriptor number):
 * subscribed clients get it.  Of spawned jobs some is kept for late subscriptions.  Returns whether
 * any client has subscribed. */
bool server_output(struct server *s, const struct job *j, uint32_t rank, uint16_t channel,
                   struct slice bytes);

/* The kept output of rank (or JOB_NO_RANK: all) of the job of that name, the oldest first; and the
 * same from another node, for a client that subscribed here (EFFECT_listen). */
typedef void server_kept_fn(void *arg, uint32_t rank, uint16_t channel, struct slice bytes);
void server_recall(const struct server *s, struct slice nspace, uint32_t rank, server_kept_fn *fn,
                   void *arg);
void server_overheard(struct server *s, struct slice nspace, uint32_t rank, uint16_t channel,
                      uint64_t ear, struct slice bytes);

/* Another node's EFFECT_tie, and its EFFECT_space. */
void server_tied(struct server *s, struct job *j, uint32_t other, bool on);
/* Another node's EFFECT_bond. */
void server_bonded(struct server *s, struct slice bond, bool on);
void server_space_gone(struct server *s, struct job *j, struct slice name);

/* A process of another node has requested the end of rank (or JOB_NO_RANK: all) of the job. */
void server_commanded(struct server *s, struct job *j, uint32_t rank);

/* Bytes of p->out were written by the host (or dropped, when the other end does not read any more),
 * and the store's file descriptor with them if p->pass_store asked for it. */
void server_wrote(struct server *s, struct peer *p, size_t n);

/* The next effect for the host; answers are delivered on the way. */
bool server_effect(struct server *s, struct effect *e_p);

/* The host's answer to a request that it carried out (EFFECT_spawn). */
void server_answer(struct server *s, uint64_t ticket, const struct answer *a);

/* A process finalizes on this connection, and the host has taken the request (takes). */
void server_leaves(struct server *s, struct peer *p);

/* The host has put something into p->out itself (pmix_send_output): it must be written. */
void server_spoken(struct server *s, struct peer *p);

/* The next connection with something to write or to close, taken off the list; NULL: none. */
struct peer *server_dirty(struct server *s);

#endif
