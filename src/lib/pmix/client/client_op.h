/* client_op.h - calls under way: one `struct op` for each, blocking or not.
 *
 * A request is sent with a tag; the reply with that tag completes the op.  It is driven by:
 *
 *   blocking call   its caller.  One of the waiting threads has the reader's role: it reads the
 *                   sockets (with the lock released) and completes whatever comes, for itself and
 *                   for the others, then passes the role on.
 *   callback due    progress (client_progress.h), which reads when no other thread does.
 *
 * Everything here is called with the client's lock held.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_OP_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_OP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "lib/pmix/client/client_conn.h"
#include "lib/pmix/client/client_tasks.h"
#include "pmix.h"
#include "pmix_tool.h"
#include "wire/pmix_message.h"

struct client;
struct op;
struct server_link;

/* The properties of a kind of call. */
struct op_kind {
    /* Reads the reply: op->status has been read (except of a bare one), the reader stands after
     * it. Results go into op->out; the caller notices read errors.  It may take op->reply.bytes
     * over. NULL: the reply is only a status. */
    void (*read)(struct client *c, struct op *op, struct punpack *r);
    /* Notifies the caller of a non-blocking call; without the lock.  May be NULL. */
    void (*deliver)(struct op *op);
    bool bare; /* the reply does not begin with a status */
};

union op_callback {
    pmix_op_cbfunc_t op;
    pmix_value_cbfunc_t value;
    pmix_lookup_cbfunc_t lookup;
    pmix_spawn_cbfunc_t spawn;
    pmix_info_cbfunc_t info;
    pmix_credential_cbfunc_t credential;
    pmix_validation_cbfunc_t validation;
    pmix_device_dist_cbfunc_t distance;
    pmix_hdlr_reg_cbfunc_t registered;
};

/* The results of a call; the kind decides which members are used. */
struct op_out {
    pmix_info_t *infos;
    size_t ninfos;
    pmix_pdata_t *pdata;
    size_t npdata;
    pmix_device_distance_t *distances;
    size_t ndistances;
    pmix_proc_t *procs;
    size_t nprocs;
    pmix_value_t *value;
    bool lent; /* the op does not own the value */
    pmix_byte_object_t bytes;
    pmix_nspace_t nspace;
    size_t number;
};

struct op {
    struct list link;           /* in the client's `sent` */
    struct list waiting;        /* blocking: in the client's `waiters` */
    struct client_task task;    /* not blocking: its delivery */
    struct server_link *server; /* where it was sent */
    const struct op_kind *kind;
    uint32_t tag;
    bool blocking, done;
    pthread_cond_t wake; /* blocking */
    pmix_status_t status;
    struct frame reply;
    struct op_out out;
    union op_callback callback;
    void *cbdata;
    /* The call's own. */
    void *arg;
    void (*free_arg)(void *arg);
};

/* A blocking call has its op on its stack, between these two. */
void op_init(struct op *op, const struct op_kind *kind);
void op_clear(struct op *op); /* releases `arg`, and the parts of `out` not taken */

/* For a non-blocking call; NULL: no memory.  It frees itself after delivery. */
struct op *op_new(const struct op_kind *kind, void *cbdata);
void op_free(struct op *op); /* one that was not sent; NULL is fine */

/* ---- messages -------------------------------------------------------------------------------- */

/* A request, packed straight into the connection's buffer. */
struct message {
    struct client *c;
    struct server_link *server;
    struct ppack w;
    size_t from;
};

/* PMIX_ERR_UNREACH: there is no server (any more). */
pmix_status_t message_begin(struct client *c, struct message *m, uint8_t command);
/* To that server, which is not lost: an answer, without a command. */
pmix_status_t message_begin_to(struct client *c, struct server_link *s, struct message *m);
/* An empty one, without a command. */
pmix_status_t message_begin_empty(struct client *c, struct message *m);

/* Sends it.  PMIX_SUCCESS: the op is under way (a blocking one must be waited for); otherwise it
 * was not sent: PMIX_ERR_PACK_FAILURE or similar, PMIX_ERR_NOMEM, PMIX_ERR_UNREACH. */
pmix_status_t message_send(struct message *m, struct op *op);
/* Sends a message without a reply; tag 0: takes the next of the dynamic tags. */
pmix_status_t message_send_alone(struct message *m, uint32_t tag);

/* The fields of a reply after its status.  Their memory is released by pmsg_free_ID(m, NULL). */
#define reply_get(op, r, id, m)                                                                    \
    pmsg_read_tail(&pmsg_rows[PMSG_##id], r, (op)->server->release, (op)->status,                  \
                   (struct pmsg_##id *)(m))

/* Items pass from a message to other owners. */
#define reply_take(items_p, n_p, list)                                                             \
    (*(items_p) = (list).items, *(n_p) = (list).n, (list).items = NULL, (list).n = 0)

/* The fields of a request, as a struct of wire/pmix_message.h in braces. */
#define message_put(m, id, ...)                                                                    \
    pmsg_write_##id(&(m)->w, (m)->server->release, &(struct pmsg_##id)__VA_ARGS__)

/* ---- completion ------------------------------------------------------------------------------ */

/* False: the time is over, and the op is not under way any more. */
bool op_wait_until(struct client *c, struct op *op, uint64_t deadline_ns);

/* Completes a call without a reply; if it does not block, progress_complete() ensures that its
 * callback will be run. */
void op_complete(struct client *c, struct op *op, pmix_status_t status);

/* Sends (message_send) and waits, as most blocking calls do.  Returns the op's status. */
pmix_status_t op_call(struct message *m, struct op *op);
/* Sends one with a callback (progress_send() ensures that it will be run); takes the op over in any
 * case. */
pmix_status_t op_send(struct message *m, struct op *op);

/* ---- for progress ---------------------------------------------------------------------------- */

/* Takes the reader's role (free) for one turn: waits until something comes, the time is over
 * (UINT64_MAX: never) or wake_fd (or -1) is readable, and completes the ops that it can. */
void reader_turn(struct client *c, uint64_t deadline_ns, int wake_fd);
/* The same without waiting. */
void reader_poll(struct client *c);
/* Another thread has the role: waits until a full connection takes more, or wake_fd (or -1) is
 * readable.  False: everything is written. */
bool writer_turn(struct client *c, int wake_fd);
/* The role is free: passes it to another waiter, if any. */
void reader_next(struct client *c);

/* The connection is gone: every op sent there fails, nothing more is sent. */
void server_lost(struct client *c, struct server_link *s);

#endif
