/* roots.h - in which root directory a process of this node has the paths that it registers.
 *
 * Ranks may run in containers of any kind; what they name is cleared up there when they have gone,
 * and never what has the same name here.
 */
#ifndef WIREUP_WIREUPD_ROOTS_H
#define WIREUP_WIREUPD_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

struct node;

/* While the process is there. */
void roots_note(struct node *n, uint32_t job, uint32_t rank);

/* *fd_p: its root directory, or 0: the same as ours.  False: nobody knows. */
bool roots_find(struct node *n, uint32_t job, uint32_t rank, int *fd_p);

void roots_free(struct node *n);

#endif
