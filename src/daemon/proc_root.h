/* proc_root.h - the root directory in which a process of this node sees the paths that it
 * registers.
 *
 * Ranks may run in containers of any kind; the paths they register are cleaned up there after their
 * end, and never a path of the same name outside.
 */
#ifndef WIREUP_DAEMON_PROC_ROOT_H
#define WIREUP_DAEMON_PROC_ROOT_H

#include <stdbool.h>
#include <stdint.h>

struct node;

/* Records the root while the process exists. */
void proc_root_note(struct node *n, uint32_t job, uint32_t rank);

/* *fd_p: its root directory, or 0: the same as ours.  False: unknown. */
bool proc_root_find(struct node *n, uint32_t job, uint32_t rank, int *fd_p);

void proc_root_free(struct node *n);

#endif
