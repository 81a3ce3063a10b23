/* server_turn.h - the lock of a server, the calls of its host that are due, and turning its loop.
 *
 * server.h tells which thread runs which part. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_TURN_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_TURN_H

#include "lib/pmix/server/server.h"

/* From now on the loop is turned as the host wants it (options). */
pmix_status_t pserver_settle_progress(struct pserver *s);

/* The thread ends, after all calls of the host that are due (flush) or the one under way; from now
 * on the host calls PMIx_Progress.  Nothing happens without a thread of ours, or in one of the
 * host's functions. */
void pserver_hand_over(struct pserver *s, bool flush);

/* One turn without blocking: for hosts that turn the loop themselves.  wait: if another thread
 * is turning it, waits for that turn to end. */
void pserver_turn(struct pserver *s, bool wait);

/* Readable when a turn has work; -1: another thread does it, or the caller is in one of the
 * host's functions. */
int pserver_turn_fd(struct pserver *s);

/* Whether the caller is in one of the host's functions. */
bool pserver_inside(struct pserver *s);

/* Locked; unlocks.  The host has sent a request to itself and waits: reads it here and runs the
 * host's functions that it leads to in this thread.  own: its connection, or NULL. */
void pserver_run_own(struct pserver *s, struct peer_conn *own);

/* Starts the thread that turns the loop.  0 or -errno. */
int pserver_start(struct pserver *s);

/* The loop is not turned any more, and no call of the host begins; waits for those under way. */
void pserver_stop(struct pserver *s);

/* Carries out everything that became due, then unlocks. */
void pserver_unlock(struct pserver *s);

/* The same for an answer of the host, which may come after pserver_free(): the last one frees the
 * memory. */
void pserver_unlock_last(struct pserver *s);

/* Frees the memory of a server that has ended.  Unlocked. */
void pserver_release(struct pserver *s);

/* ---- with the lock held ---------------------------------------------------------------------- */

/* Writes replies, carries out effects, queues calls. */
void pserver_settle(struct pserver *s);

void pserver_add_call(struct pserver *s, struct scall *c);

#endif
