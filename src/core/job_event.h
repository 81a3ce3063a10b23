/* job_event.h - events of the processes of a job, and their consequences for the others
 * that wait for a process, and for the job. */
#ifndef WIREUP_CORE_JOB_EVENT_H
#define WIREUP_CORE_JOB_EVENT_H

#include "core/job.h"

/* Something happened to a process.  `code` is the exit code for EXIT, the signal for DEATH, the
 * stop (enum job_map_stop) for READY.  RESTART comes from the controlling node. */
void job_event(struct job *j, uint32_t rank, enum proc_event event, int code);

/* A node of the plan is another machine from now on.  On all nodes, at the same place in the order
 * of the controlling node's reports: these processes have ended with the machine before, and begin
 * anew there.  All others of that node have ended earlier. */
struct node_replacement;
void job_node_replaced(struct job *j, const struct node_replacement *n);

#endif
