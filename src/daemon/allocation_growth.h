/* allocation_growth.h - a request for an allocation names nodes that the DVM does not have: they
 * join it first (launch/dvm_members.h), and the request is carried out when each has come up, or
 * will not.
 */
#ifndef WIREUP_DAEMON_ALLOCATION_GROWTH_H
#define WIREUP_DAEMON_ALLOCATION_GROWTH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/list.h"

struct node_context;

struct allocation_growth_calls {
    /* The request goes on, and is the callee's.  joined: the names of the nodes that have,
     * separated by commas. */
    void (*go_on)(void *arg, void *request, struct slice joined);
    void (*drop)(void *request); /* it does not: all ends */
    void *arg;
};

struct allocation_growths {
    const struct node_context *context; /* NULL: not open */
    struct list all;
    struct allocation_growth_calls calls;
};

void allocation_growths_open(struct allocation_growths *g, const struct node_context *c,
                             const struct allocation_growth_calls *calls);
void allocation_growths_close(struct allocation_growths *g); /* harmless twice, and on zeroed */

/* The nodes, names with commas, are to join; takes the request over.  False: this is no DVM, or
 * there is no memory; nothing has been done. */
bool allocation_growth_begin(struct allocation_growths *g, void *request, struct slice nodes);

/* These leave when no process of a job is on them; nobody waits for that. */
void allocation_growth_undo(const struct allocation_growths *g, struct slice nodes);

#endif
