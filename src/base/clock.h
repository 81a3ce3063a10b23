/* clock.h - the only place that asks the machine what time it is.
 *
 * What decides (core, sessions, overlay) takes the time as an argument and never includes this.
 */
#ifndef WIREUP_BASE_CLOCK_H
#define WIREUP_BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

uint64_t clock_now_ns(void);  /* monotonic, since some fixed point */
uint64_t clock_wall_ns(void); /* since 1970-01-01 UTC; for people and traces only */

/* For hashing and names, not for secrets: random, or the time where there is nothing random. */
uint64_t clock_seed(void);

#endif
