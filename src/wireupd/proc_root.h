/* proc_root.h - in which root directory a process of this node has the paths that it registers.
 *
 * Ranks may run in containers of any kind; what they name is cleared up there when they have gone,
 * and never what has the same name here.
 */
#ifndef WIREUP_WIREUPD_PROC_ROOT_H
#define WIREUP_WIREUPD_PROC_ROOT_H

#include <stdbool.h>
#include <stdint.h>

struct node;

/* While the process is there. */
void proc_root_note(struct node *n, uint32_t job, uint32_t rank);

/* *fd_p: its root directory, or 0: the same as ours.  False: nobody knows. */
bool proc_root_find(struct node *n, uint32_t job, uint32_t rank, int *fd_p);

void proc_root_free(struct node *n);

#endif
