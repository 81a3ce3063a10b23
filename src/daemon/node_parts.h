/* node_parts.h - what all nodes know, gathered for a query of a process here (EFFECT_node_parts):
 * each daemon is asked for its part (server/node_part.h), and all parts together are the answer.
 *
 * Any node can ask.  A daemon that is lost is not waited for; one that is silent, no longer than
 * LIMIT_WHO_MS: then the answer has the parts of the others.
 */
#ifndef WIREUP_DAEMON_NODE_PARTS_H
#define WIREUP_DAEMON_NODE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/slice.h"
#include "daemon/queues.h"

struct allocations;
struct node_context;
struct topology;

struct node_parts {
    const struct node_context *context; /* NULL: not open */
    struct topology *topology;
    const struct allocations *allocations;
    struct queues queues;
    struct list all;
    uint64_t last; /* number of a request */
};

void node_parts_open(struct node_parts *n, const struct node_context *c, struct topology *t,
                     const struct allocations *a);
void node_parts_close(struct node_parts *n); /* harmless twice, and on zeroed memory */

/* server_answer() with that ticket follows: now or later. */
void node_parts_begin(struct node_parts *n, uint64_t ticket, uint32_t parts, bool local);

/* Appends this node's part. */
void node_parts_own(const struct node_parts *n, uint32_t parts, struct buf *out);

/* A daemon's part has arrived. */
void node_parts_receive(struct node_parts *n, uint32_t position, uint64_t number,
                        struct slice part);

/* That daemon is lost. */
void node_parts_lost(struct node_parts *n, uint32_t position);

#endif
