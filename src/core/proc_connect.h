/* proc_connect.h - processes of several jobs that have connected (PMIx_Connect): their jobs fail
 * together, and the others may be notified of a process that ends without having disconnected.
 *
 * When a connect or disconnect completes, each node records it for its own members and reports it
 * to the node that controls jobs (EFFECT_proc_connect) before it answers them: so their exits come
 * after it.
 */
#ifndef WIREUP_CORE_PROC_CONNECT_H
#define WIREUP_CORE_PROC_CONNECT_H

#include "core/coll_id.h"
#include "core/core.h"

/* A connect or disconnect has completed.  here: which of all are on this node (ids as in
 * collective_multijob.c). Collectives for other purposes, and within one job, connect nothing. */
void proc_connect_meeting(struct core *c, enum coll_kind kind, const uint32_t *here, uint32_t nhere,
                          const uint32_t *all, uint32_t nall);

/* Appends the value of EFFECT_proc_connect for these members, all of them: jobs of several
 * launchers. Out of memory poisons the buffer. */
void proc_connect_write(const struct core *c, const struct member *members, uint32_t n,
                        struct buf *out);

/* The same, from another node, by the value of EFFECT_proc_connect. False: the bytes are malformed.
 */
bool proc_connect_receive(struct core *c, struct slice bytes, bool on);

#endif
