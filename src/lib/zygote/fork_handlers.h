/* fork_handlers.h - the fork handlers that libraries have registered while they were loaded.
 *
 * A rank must be a child of the daemon, not of the zygote, and the C library's fork() cannot make
 * one.  So we make it by a system call of our own, and run what fork() would have run.
 */
#ifndef WIREUP_LIB_ZYGOTE_FORK_HANDLERS_H
#define WIREUP_LIB_ZYGOTE_FORK_HANDLERS_H

#include <stdbool.h>

/* From here on they are noted. */
void fork_handlers_begin(void);
/* No more of them; false: there were too many. */
bool fork_handlers_end(void);

void fork_handlers_prepare(void);
void fork_handlers_parent(void);
void fork_handlers_child(void);

#endif
