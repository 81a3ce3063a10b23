/* dvm_asked.h - daemons that a launcher asks a DVM for before it can follow them: they start while
 * it opens its own ports.  remote_exec.h takes the connections over, one for each node, and goes on
 * where it would have asked itself.
 */
#ifndef WIREUP_DAEMON_DVM_ASKED_H
#define WIREUP_DAEMON_DVM_ASKED_H

#include <stdint.h>

#include "base/limit.h"
#include "io/rendezvous.h"

/* Zeroed memory is empty. */
struct dvm_asked {
    uint32_t count;
    struct {
        const char *node;
        int fd;
    } all[LIMIT_AGENT_AT_ONCE];
};

/* words: of the request (dvm_request.h); node outlives the struct.  A node that cannot be asked now
 * is asked later. */
void dvm_asked_add(struct dvm_asked *q, const struct launcher_name *dvm, const char *node,
                   char *const *words);

/* The connection for that node, which is the caller's; -1: it has not been asked for. */
int dvm_asked_take(struct dvm_asked *q, const char *node);

/* Closes those that are left, upon which their daemons end.  Harmless twice. */
void dvm_asked_close(struct dvm_asked *q);

#endif
