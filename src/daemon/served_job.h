/* served_job.h - a job whose processes something else starts (`wireup serve`).
 *
 * They find this server by their environment alone: PMI_PORT and PMI_ID, or the addresses of PMIx.
 * From its start on the job counts as running; a process is known when it connects (listener.c),
 * and has ended when the last of its connections closes.  Nothing of it is ours to start, to signal
 * or to wait for: an aborted job only loses its connections.
 */
#ifndef WIREUP_DAEMON_SERVED_JOB_H
#define WIREUP_DAEMON_SERVED_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct node;

/* The node's first job, of that many processes; its config has pmi_port set.  0, or -errno with a
 * sentence. */
int served_job_start(struct node *n, uint32_t count, struct errmsg *err);

/* Appends what each process must have in its environment: a line of shell commands for each rank,
 * in the order of ranks, or JSON.  Running out of memory poisons the buffer. */
void served_job_print(struct node *n, bool json, struct buf *out);

#endif
