/* clock.h - the only place that reads the machine's clocks.
 *
 * The code that decides (core, sessions, cluster) takes the time as an argument and never includes
 * this header.
 */
#ifndef WIREUP_BASE_CLOCK_H
#define WIREUP_BASE_CLOCK_H

#include "base/duration.h"

uint64_t clock_now_ns(void);  /* monotonic, since some fixed point */
uint64_t clock_wall_ns(void); /* since 1970-01-01 UTC; for people and traces only */

/* For hashing and names, not for secrets: random, or the time if no random bytes are available. */
uint64_t clock_seed(void);

#endif
