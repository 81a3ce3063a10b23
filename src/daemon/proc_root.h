/* proc_root.h - the root directory in which a process of this node sees the paths that it
 * registers.
 *
 * Ranks may run in containers of any kind; the paths they register are cleaned up there after their
 * end, and never a path of the same name outside.
 */
#ifndef WIREUP_DAEMON_PROC_ROOT_H
#define WIREUP_DAEMON_PROC_ROOT_H

#include "core/core.h"
#include "io/peer_conn.h"

struct proc_roots {
    const struct core *core;
    const struct peer_conns *conns; /* of the processes */
    struct list all;                /* of processes that were looked at */
    bool lost;                      /* one was lost for lack of memory: none can be trusted */
};

void proc_roots_open(struct proc_roots *p, const struct core *core, const struct peer_conns *conns);
void proc_roots_close(struct proc_roots *p); /* harmless on zeroed memory */

/* Records the root while the process exists; one that has just ended stays where it was seen last.
 */
void proc_root_note(struct proc_roots *p, uint32_t job, uint32_t rank);

/* *fd_p: its root directory, or 0: the same as ours.  False: unknown. */
bool proc_root_find(struct proc_roots *p, uint32_t job, uint32_t rank, int *fd_p);

/* Its numbers of System V segments are those that we see. */
bool proc_root_shares_ipc(struct proc_roots *p, uint32_t job, uint32_t rank);

#endif
