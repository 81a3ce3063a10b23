/* dvm_limits.h - what one job of a DVM may have at most (`wireup up -jobs`, `-job-slots` ...).
 *
 * The DVM refuses launchers that ask for more, or lets them wait, and tells the others what holds
 * for their spawned processes and their end: only they know of these.  Jobs of tools, which have no
 * launcher of their own, are bound by slots and nodes.
 *
 * Pure.
 */
#ifndef WIREUP_DAEMON_DVM_LIMITS_H
#define WIREUP_DAEMON_DVM_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* 0: no limit. */
struct dvm_limits {
    uint32_t jobs;                  /* at once */
    uint32_t slots, nodes, seconds; /* of a job */
};

/* "JOBS SLOTS NODES SECONDS" */
void dvm_limits_write(const struct dvm_limits *l, struct buf *out);
bool dvm_limits_read(struct slice words, struct dvm_limits *l);

bool dvm_limits_any(const struct dvm_limits *l);

/* A job of the DVM with that many processes and nodes.  0; 1 with a sentence. */
int dvm_limits_check(const struct dvm_limits *l, const char *dvm, uint64_t slots, uint64_t nodes,
                     struct errmsg *err);

#endif
