/* dvm_growth.h - a request for an allocation, or for a spawn, names nodes that the DVM does not
 * have: they join it first (launch/dvm_members.h), and the request is carried out when each has
 * come up, or will not.  Or it wants so many more, which the resource manager gives: it is carried
 * out when all have come.  Until then none of those that it names leaves, whoever asks for that.
 */
#ifndef WIREUP_DAEMON_DVM_GROWTH_H
#define WIREUP_DAEMON_DVM_GROWTH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/list.h"

struct node_context;

struct dvm_growth_calls {
    /* The request goes on, and is the callee's.  joined: the names of the nodes that have,
     * separated by commas.  why: of the first one that has not, a sentence; "": all have. */
    void (*go_on)(void *arg, void *request, struct slice joined, const char *why);
    void (*drop)(void *request); /* it does not: all ends */
    void *arg;
};

struct dvm_growths {
    const struct node_context *context; /* NULL: not open */
    struct list all;
    struct dvm_growth_calls calls;
    void (*resize)(void *arg, int fd, struct slice words); /* node_config's resize, or add_nodes */
};

void dvm_growths_open(struct dvm_growths *g, const struct node_context *c,
                      const struct dvm_growth_calls *calls);
void dvm_growths_close(struct dvm_growths *g); /* harmless twice, and on zeroed */

/* The nodes, names with commas, are to join; all: they and others that the request is about,
 * without blanks.  Takes the request over.  False: this is no DVM, or there is no memory; nothing
 * has been done. */
bool dvm_growth_begin(struct dvm_growths *g, void *request, struct slice nodes, struct slice all);

/* The same, for so many nodes as the resource manager gives: all or none. */
bool dvm_growth_more(struct dvm_growths *g, void *request, uint64_t nodes);

/* A request for so many nodes of which is() is true; it is the caller's again, and its nodes are
 * not wanted any more.  NULL: there is none. */
void *dvm_growth_withdraw(struct dvm_growths *g, bool (*is)(const void *arg, const void *request),
                          const void *arg);

/* The request, which is the caller's again, waits no longer.  Its nodes leave as by
 * dvm_growth_undo(), and each that joins later. */
void dvm_growth_forget(struct dvm_growths *g, const void *request);

/* These leave when no process of a job is on them; nobody waits for that. */
void dvm_growth_undo(const struct dvm_growths *g, struct slice nodes);

#endif
