/* rank.h - one process of a job that is examined: it hands its connection to the process manager
 * over. */
#ifndef WIREUP_TOOLS_CONFORM_RANK_H
#define WIREUP_TOOLS_CONFORM_RANK_H

#include "tools/conform/transcript.h"

/* The first argument of this program when it is started as a rank, and as a relay (relay.h). */
#define RANK_WORD  "as-rank"
#define RELAY_WORD "as-relay"

/* The place of the process manager, as the variables of a process tell it: "127.0.0.1", 4711.
 * False: there is none, or this way needs none.  env: the value of a variable, or NULL. */
bool rank_address(enum transcript_way way, const char *(*env)(const void *arg, const char *name),
                  const void *arg, char *host, size_t room, uint16_t *port_p);

/* A connection to it; -1 with errno. */
int rank_connect(const char *host, uint16_t port);

/* Hands the inherited connection over, if there is one, to who listens by this name (post.h), and
 * waits until that one hangs up.  The exit status. */
int rank_run(const char *name);

#endif
