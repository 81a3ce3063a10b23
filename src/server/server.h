/* server.h - the one place where connections, core and host meet.
 *
 * A session turns bytes into requests, the core decides on them, the host (launcher, daemon, or a
 * test) carries out the effects.  The server moves things between these three and does nothing
 * else; it has no file descriptor and no clock.  Cores do not call cores.
 *
 * The host's loop, for each input:
 *     server_deliver(), or server_tick()
 *     while (server_effect(...)) carry it out;
 *     while ((p = server_dirty(...))) write p->out, close if p->closing;
 */
#ifndef WIREUP_SERVER_SERVER_H
#define WIREUP_SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/log.h"
#include "core/core.h"
#include "server/session.h"

struct effect;
struct input;
struct name_entry;
struct op_event;
struct op_node_replaced;
struct record;
struct request;

/* Takes a record while it is being made: everything in it is borrowed.  It sets the time when that
 * is 0. */
typedef void server_recorder(void *arg, struct record *r);

struct server {
    struct core core;
    struct list events; /* struct kept_event, the oldest first */
    uint32_t nevents;
    uint32_t next_slot;    /* for the next one that is kept */
    bool exits_subscribed; /* EFFECT_subscribe_exits has been sent */
    size_t event_bytes;
    struct list outputs; /* struct kept_output, the oldest first */
    size_t output_bytes;
    bool output_redirected; /* the last output is for a subscriber alone */
    struct list monitors;   /* struct monitor, of heartbeats and files */
    uint64_t last_monitor;
    struct list peers;
    struct list dirty;
    bool owing; /* some peers' sessions have requests (peer.owes) */
    struct map by_id;
    struct peer *latest; /* that was looked up there, or NULL */
    uint32_t next_id;
    const struct log *log;
    /* PMI_PORT connections: finds the process for an id; false: unknown.  May be NULL. */
    bool (*identify)(void *arg, const struct peer *newcomer, int64_t id, struct job **job_p,
                     uint32_t *rank_p);
    /* A connection identifies itself as a process that is connected already: whether it may,
     * because the same process, or a child of it, holds the other end.  NULL: it may. */
    bool (*admit)(void *arg, const struct peer *newcomer, const struct job *job, uint32_t rank);
    void *arg;
    /* A host that carries out some requests itself sees each one first.  True: it has taken the
     * request, *a_p is its answer (ANSWER_LATER: server_answer() will bring it). May be NULL. */
    bool (*takes)(void *arg, struct peer *p, const struct request *rq, uint64_t ticket,
                  struct answer *a_p);
    uint64_t host_commands; /* of PMIx; for new connections (session.h) */
    /* The host's monotonic clock, for inputs that come without a time; NULL: they have none. */
    uint64_t (*clock)(void);
    uint64_t now_ns;           /* of the latest input */
    server_recorder *recorder; /* NULL: no trace */
    void *recorder_arg;
};

void server_init(struct server *s, uint64_t seed, const struct log *log);
void server_free(struct server *s);

/* ---- inputs ----------------------------------------------------------------------------------
 * For a trace to be replayed, the host passes everything to the server, and not to the core: by
 * the functions below, from its beginning to its end. */

/* Something has happened (core/input.h, proto/operations.def): the server decides on it, and
 * records it.  False: it concerns nothing here: a job, a process or a connection that is not there,
 * a name that nobody has published, output that nobody has subscribed to; or there is no memory for
 * it. */
bool server_deliver(struct server *s, const struct input *in);

/* The same for an input of the connection p, which need not be looked up by its number then. */
bool server_deliver_from(struct server *s, struct peer *p, const struct input *in);

/* Time has passed: answers the requests that are due, and returns the time at which the next
 * becomes due (UINT64_MAX: nothing is pending).  Needed when the time that server_due() names has
 * come. */
uint64_t server_tick(struct server *s, uint64_t now_ns);
static inline uint64_t server_due(const struct server *s)
{
    return s->core.effects.tick_ns;
}

/* The next effect for the host; answers are delivered on the way. */
bool server_effect(struct server *s, struct effect *e_p);

/* The input `abort`, with that sentence. */
void server_abort(struct server *s, const struct job *j, uint32_t culprit, int exit_code,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The input `answer`. */
void server_answer(struct server *s, uint64_t ticket, const struct answer *a);

/* Inputs that come from many places of a host, which need not know the table for them: as
 * server_deliver() with the input of that name. */
bool server_proc_state(struct server *s, const struct job *j, uint32_t rank, enum proc_event event,
                       int code, int pid);
bool server_preset(struct server *s, const struct job *j, struct slice key, struct slice value);
bool server_output(struct server *s, const struct job *j, uint32_t rank, uint16_t channel,
                   struct slice bytes);
void server_job_gone(struct server *s, const struct job *j);
void server_job_failed(struct server *s, const struct job *j, int code, struct slice reason);
void server_abort_connected(struct server *s, const struct job *j);
/* code: of wireup_client.h. */
void server_dvm_news(struct server *s, int code, struct slice name, uint32_t slots);
void server_node_down(struct server *s, const struct job *j, uint32_t node);
bool server_node_replaced(struct server *s, const struct op_node_replaced *o);
/* Bytes of a connection (`in`), its end, and what was found out about its process. */
void server_read(struct server *s, struct peer *p, uint64_t now_ns, struct slice bytes);
void server_hangup(struct server *s, const struct peer *p);
bool server_greet(struct server *s, const struct peer *p);
void server_owner(struct server *s, const struct peer *p, uint32_t uid, uint32_t gid);
void server_rights_lost(struct server *s, struct peer *p);
/* Another launcher withdraws a name: that of the entry, or (NULL) one that all may read. */
bool server_unpublish(struct server *s, struct slice service, const struct name_entry *e);

/* A new job; as core_job_order().  The input `job_gone` removes it. */
struct job *server_job_order(struct server *s, const struct job_order *o);

/* When the server has started, in words without a line end; NULL: not known. */
enum { SERVER_STARTED_ROOM = 32 };
const char *server_started(const struct core *c, char room[SERVER_STARTED_ROOM]);

/* ---- the trace (server_host.c) --------------------------------------------------------------- */

/* Every later record goes to fn, the first one (`begin`) at once. */
void server_record(struct server *s, server_recorder *fn, void *arg, uint64_t wall_ns,
                   const char *node);
void server_record_end(struct server *s); /* harmless without a trace */

/* ---- the state of the server ----------------------------------------------------------------- */

/* Another node has subscribed to exits (EFFECT_subscribe_exits there): those that were kept. */
typedef void server_exit_fn(void *arg, const struct op_event *e);
void server_kept_exits(const struct server *s, server_exit_fn *fn, void *arg);

/* The kept output of rank (or JOB_NO_RANK: all) of the job of that name, the oldest first. */
typedef void server_kept_fn(void *arg, uint32_t rank, uint16_t channel, struct slice bytes);
void server_recall(const struct server *s, struct slice nspace, uint32_t rank, server_kept_fn *fn,
                   void *arg);

/* ---- connections ----------------------------------------------------------------------------- */

/* A connection of the job's rank; job NULL: it will identify itself.  can_pass_fd: file descriptors
 * can travel on it.  Inputs name it by its id.  NULL: no memory. */
struct peer *server_peer_new(struct server *s, struct job *job, uint32_t rank, bool can_pass_fd,
                             void *host);
/* A connection of a TCPStore's client (proto/tcpstore.def) that belongs to that process. */
struct peer *server_store_peer_new(struct server *s, struct job *job, uint32_t rank, void *host);
/* Closes without notifying anybody; the host has closed its file descriptor.  Returns NULL. */
struct peer *server_peer_free(struct server *s, struct peer *p);

/* The next connection with something to write or to close, taken off the list; NULL: none. */
struct peer *server_dirty(struct server *s);

/* Bytes of p->out were written by the host (or dropped, when the other end does not read any more),
 * and the store's file descriptor with them if p->pass_store asked for it. */
void server_wrote(struct server *s, struct peer *p, size_t n);

/* The host has put something into p->out itself (pmix_send_output): it must be written. */
void server_spoken(struct server *s, struct peer *p);

/* A process finalizes on this connection, and the host has taken the request (takes). */
void server_leaves(struct server *s, struct peer *p);

#endif
