/* scheduler.h - the tool that is asked for allocations before the launcher makes them: what is
 * asked of it, and its answers.
 *
 * A tool is the scheduler when it connects with PMIX_SERVER_SCHEDULER (server/pmix_scheduler.h);
 * its own requests go to the launcher, and may be about the sessions of others
 * (PMIx_Session_control).  When it goes, what it has not answered fails. */
#ifndef WIREUP_DAEMON_SCHEDULER_H
#define WIREUP_DAEMON_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/slice.h"

struct effect;
struct job;
struct op_allocate;
struct reservation_wish;
struct server;

struct scheduler {
    struct server *server;
    struct list asked;
    uint32_t last;
};

void scheduler_open(struct scheduler *s, struct server *server);
void scheduler_close(struct scheduler *s); /* harmless twice, and on zeroed memory */

/* Asks it.  False: there is none that this request is for.  *number_p: 0 when it cannot be asked.
 */
bool scheduler_ask(struct scheduler *s, const struct op_allocate *e, uint32_t *number_p);

/* Asks it for a new allocation, of which nobody waits for the answer: allocations of processes that
 * spawn.  The number; 0: as above, or it cannot be asked. */
uint32_t scheduler_ask_new(struct scheduler *s, uint32_t job, uint32_t rank,
                           const struct reservation_wish *w, struct slice infos);

/* The request of that number, which is the caller's (effect_drop, free); NULL: there is none. */
struct effect *scheduler_take(struct scheduler *s, uint32_t number);

/* A tool has ended.  True: it was the scheduler; takes what it has been asked by
 * scheduler_take_any. */
bool scheduler_ended(struct scheduler *s, const struct job *j);
struct effect *scheduler_take_any(struct scheduler *s);

#endif
