/* job_map_pack.h - a job map as bytes, for the daemons of other nodes.
 *
 * Of the binding only the policy is sent: each node applies it to its own hardware.  Ranks are
 * written as runs, so the size of a plan is that of its irregularity.
 */
#ifndef WIREUP_CORE_JOB_MAP_PACK_H
#define WIREUP_CORE_JOB_MAP_PACK_H

#include "base/buf.h"
#include "base/err.h"
#include "core/job_map.h"

/* Appends; running out of memory poisons the buffer. */
void job_map_pack(const struct job_map *p, struct buf *out);

/* Fills *p_p (free it afterwards whatever is returned).  0; 1: bytes that are no plan, with the
 * reason; -ENOMEM. */
int job_map_unpack(struct slice bytes, struct job_map *p_p, struct errmsg *err);

#endif
