/* proc_connect.h - processes of several jobs that have connected (PMIx_Connect): their jobs fail
 * together, and others may hear of who goes without having disconnected.
 *
 * When a meeting to connect or disconnect is over, each node notes that of its own members, and
 * tells who decides about jobs (EFFECT_BOND), before it answers them: so their ends come behind it.
 */
#ifndef WIREUP_CORE_PROC_CONNECT_H
#define WIREUP_CORE_PROC_CONNECT_H

#include "core/coll_id.h"
#include "core/core.h"

/* A meeting of that kind is over.  here: which of all are on this node (ids as in
 * collective_multijob.c). Meetings for other purposes, and within one job, bind nobody. */
void proc_connect_meeting(struct core *c, enum coll_kind kind, const uint32_t *here, uint32_t nhere,
                          const uint32_t *all, uint32_t nall);

/* The same, of another node, by what EFFECT_BOND carries.  False: bytes that say nothing. */
bool proc_connect_heard(struct core *c, struct slice bytes, bool on);

#endif
