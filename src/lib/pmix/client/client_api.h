/* client_api.h - access of the public functions to this process's one client. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_API_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_API_H

#include <stdatomic.h>
#include <sys/single_threaded.h>

#include "lib/pmix/client/client.h"
#include "server/pmix_calls.h"

/* The client, locked and in use until api_end; NULL: there is none. */
struct client *api_begin(void);
/* Returns rc. */
pmix_status_t api_end(struct client *c, pmix_status_t rc);
/* The end of a call with a callback: sends the begun message (with rc), or frees the op. */
pmix_status_t api_send_begin(struct client *c, struct message *m, struct op *op, pmix_status_t rc);

/* Of a call whose infos the library reads itself (pmix_calls.h). */
static inline pmix_status_t api_check(enum pmix_call_id id, const pmix_info_t *infos, size_t n)
{
    return infos && n ? pmix_call_check(id, infos, n) : PMIX_SUCCESS;
}

/* Prints one sentence on standard error. */
void api_print_error(const struct errmsg *err);

/* ---- starting and ending the client (client_init.c) ------------------------------------------ */

/* The lock of every client of this process. */
struct lock *api_gate(void);

/* Takes the lock, when no thread starts or ends a client; the client, or NULL. */
struct client *api_lock(void);
void api_unlock(void);

/* Locked.  Between these two the lock may be released, and api_lock() of other threads waits.  c is
 * the client from now on (NULL: there is none); quick: look-ups without the lock may use it. */
void api_move_begin(void);
void api_move_end(struct client *c, bool quick);

/* Locked, between those two: takes the client away, when no thread is in a call any more. */
struct client *api_withdraw(void);

/* In a forked child: there is no client any more; the parent's, or NULL. */
struct client *api_in_child(void);

/* ---- calls ----------------------------------------------------------------------------------- */

/* Without the lock: a client that has a store, for data that never changes (its own name, the
 * store itself); it stays until api_quick_end.  NULL: there is none, and nothing to end. */
static inline const struct client *api_quick_begin(bool *alone_p);
static inline void api_quick_end(bool alone);

/* Look-ups without the lock: the client that they may use, and how many are under way. */
extern struct api_quick {
    _Atomic(struct client *) client;
    atomic_uint users;
    atomic_bool awaited; /* finalization waits until there are none */
} api_quick __attribute__((visibility("hidden")));

void api_quick_leave(void);

static inline const struct client *api_quick_begin(bool *alone_p)
{
    const struct client *c;

    /* With a single thread nobody can finalize the client during a look-up; so skip the atomics,
     * whose cost would exceed the look-up's. */
    *alone_p = __libc_single_threaded;
    if (*alone_p)
        return atomic_load_explicit(&api_quick.client, memory_order_relaxed);
    atomic_fetch_add(&api_quick.users, 1);
    c = atomic_load(&api_quick.client);
    if (!c)
        api_quick_leave();
    return c;
}

static inline void api_quick_end(bool alone)
{
    if (!alone)
        api_quick_leave();
}

/* Calls whose reply is a status; the callback is op->callback.op, which may be NULL. */
extern const struct op_kind op_status_only;

/* Such a call, blocking and non-blocking. */
pmix_status_t api_status_call(struct message *m);
pmix_status_t api_status_begin(struct message *m, pmix_op_cbfunc_t cbfunc, void *cbdata);

/* The same for calls whose reply is a status and infos.  Blocking: results (may be NULL) are the
 * caller's. */
extern const struct op_kind op_infos;
pmix_status_t api_infos_call(struct message *m, pmix_info_t **results, size_t *nresults);
pmix_status_t api_infos_begin(struct message *m, pmix_info_cbfunc_t cbfunc, void *cbdata);

#endif
