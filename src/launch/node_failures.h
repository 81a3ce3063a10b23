/* node_failures.h - which nodes of a launch do not come up, and why: reported at once, as one
 * sentence or one table, so that a host list need not be corrected in one run after another.  Pure.
 *
 * Nodes that fail for the same reason share a row; their names are written as in host lists:
 * n[1-4,7].
 */
#ifndef WIREUP_LAUNCH_NODE_FAILURES_H
#define WIREUP_LAUNCH_NODE_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct node_failure {
    const char *name;
    struct slice why;
    bool printed; /* is in a row already */
};

/* Zeroed memory with an initialized arena is an empty list. */
struct node_failures {
    struct arena arena;
    struct node_failure *items;
    uint32_t count, room;
};

void node_failures_init(struct node_failures *f);
void node_failures_free(struct node_failures *f); /* harmless twice, and on zeroed memory */

/* text: "node NAME: why", or the reason alone.  An entry for which there is no memory is not
 * reported. */
void node_failures_add(struct node_failures *f, const char *name, struct slice text);

/* One line per sentence: one line if a single node of all has failed, else a heading and a row for
 * each reason. */
void node_failures_text(struct node_failures *f, uint32_t all, struct buf *out);
/* {"failed_nodes": [{"node": "n2", "why": "..."}]} and a newline. */
void node_failures_json(struct node_failures *f, struct buf *out);

/* Names as in a host list, consecutive numbers as ranges: "n[1-4,7],head".  In the given order. */
void node_names_put(const char *const *names, uint32_t n, struct buf *out);

#endif
