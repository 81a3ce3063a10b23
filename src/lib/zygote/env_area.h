/* env_area.h - what /proc/PID/environ of a rank shows: its environment, not that of the zygote. */
#ifndef WIREUP_LIB_ZYGOTE_ENV_AREA_H
#define WIREUP_LIB_ZYGOTE_ENV_AREA_H

#include <stddef.h>

/* The zygote, once: where the kernel thinks that the parts of the program are. */
void env_area_look(void);

/* The rank: its strings are there.  A kernel that cannot be told (without checkpointing) shows the
 * zygote's; nothing else depends on it. */
void env_area_set(const char *strings, size_t bytes);

#endif
