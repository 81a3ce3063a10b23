/* job_load.h - how many processes the launcher's own jobs have on each node.  (On those of a DVM
 * other launchers have processes, too: dvm_leases.h.)
 */
#ifndef WIREUP_DAEMON_JOB_LOAD_H
#define WIREUP_DAEMON_JOB_LOAD_H

#include <stdint.h>

struct cluster_io;

/* Launcher: adds those that have not ended, by position. */
void job_load_add(const struct cluster_io *s, uint32_t *used);

#endif
