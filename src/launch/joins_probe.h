/* joins_probe.h - whether a node is there still under whose name another one has come
 * (launch/joins.h).
 *
 * The old one is asked for an answer, and has LIMIT_JOIN_PROBE_MS for it.  An answer counts only
 * while judged() runs; later it would be asked again.
 */
#ifndef WIREUP_LAUNCH_JOINS_PROBE_H
#define WIREUP_LAUNCH_JOINS_PROBE_H

#include "launch/remote.h"

enum joins_answer {
    JOINS_ANSWER_UNKNOWN,
    JOINS_ANSWER_AWAITED,
    JOINS_ANSWER_ALIVE,
    JOINS_ANSWER_NONE
};

struct joins_probed {
    enum joins_answer answer;
    uint64_t until_ns; /* AWAITED */
};

struct joins_probe {
    struct remote *remote;
    struct joins_probed *all; /* by position; NULL: not open */
    struct timer patience;
    void (*judged)(void *arg); /* joins_probe_ask() knows more about a node */
    void *arg;
};

/* After remote_open().  0 or -ENOMEM. */
int joins_probe_open(struct joins_probe *p, struct remote *f, void (*judged)(void *arg), void *arg);
void joins_probe_close(struct joins_probe *p); /* harmless twice, and on zeroed memory */

/* Asks the node, unless it has been asked.  ALIVE and NONE are final, AWAITED is not. */
enum joins_answer joins_probe_ask(struct joins_probe *p, uint32_t position);

void joins_probe_alive(struct joins_probe *p, uint32_t position); /* it has answered */

#endif
