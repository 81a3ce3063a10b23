/* start_window.h - how many commands that start daemons may be under way at once: as many as this
 * machine bears.
 *
 * LIMIT_AGENT_AT_ONCE always may.  More do, up to LIMIT_AGENT_MOST, while a processor is idle: then
 * the commands wait for the network and for other machines, not for each other. */
#ifndef WIREUP_DAEMON_START_WINDOW_H
#define WIREUP_DAEMON_START_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* One more may start now. */
bool start_window_allows(uint32_t under_way);

/* The same of a machine with so many processors; loadavg: the text of /proc/loadavg (proc(5)),
 * which is not looked at where the number alone decides. */
bool start_window_fits(uint32_t under_way, struct slice loadavg, uint32_t processors);

#endif
