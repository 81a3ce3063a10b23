/* key_store.h - the store of a job by which PyTorch's processes meet (REQ_store, wire/tcpstore.h):
 * keys whose values change, are added to and are waited for, and queues.
 *
 * Unlike a key-value space of PMI (job_kvs.h), it is one at any time for all nodes: the node of the
 * launcher keeps it, the others ask that (core_request.c).  What a process puts there counts as
 * kept in the store on its behalf, and so does its waiting.
 *
 * Attempts.  Processes that have lost one of them, which is started again (job_restart.h), meet
 * anew, under keys of another attempt (tcpstore_attempt()), whose number is the job's epoch.  Keys
 * of earlier attempts vanish with the start; who waits for them then, or asks for them later, is
 * answered RESTARTED, so that nobody meets with what is over.  The key "wireup/attempt/N" is there
 * from the N-th start on, and its value is the number of the latest.  It is waited for by those
 * that know of the loss before the start.  When a process has ended for good there is no further
 * attempt, and where it has failed the present one is over, too.
 */
#ifndef WIREUP_CORE_KEY_STORE_H
#define WIREUP_CORE_KEY_STORE_H

#include "core/core_call.h"

struct key_store;

/* Carries out REQ_store.  OK with the reply, which lives until the next call; LATER; NOT_FOUND: no
 * query of that number; BAD_KEY: arguments that do not fit the query; RESTARTED: an
 * attempt that is over, or that will not be; UNSUPPORTED: an attempt of a job whose processes are
 * not started again; BAD_VALUE: no number to add to, or a sum, a value or a reply that is too
 * large; DUPLICATE: this connection waits already; OVER_QUOTA; NO_MEMORY. */
enum answer_status key_store_request(const struct core_call *k);

/* What a query of that process waits for, for reports: a key, and the rank that sets it, if
 * PyTorch's keys tell.  Of several keys it is the one that is missing now; where another node keeps
 * the store, the first one. */
void key_store_describe(const struct core_call *k, struct pending *w);

/* An epoch of the job has begun: there is another attempt. */
void key_store_restarted(struct job *j);

/* A process has ended, and is not started again. */
void key_store_ended(struct job *j, uint32_t rank);

/* The connection of that process has closed: it waits no more. */
void key_store_leave(struct core *c, struct job *j, uint32_t rank, uint32_t connection);

struct key_store *key_store_free(struct key_store *s); /* NULL is harmless; returns NULL */

#endif
