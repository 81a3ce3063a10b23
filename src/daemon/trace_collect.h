/* trace_collect.h - at the end of a job, the launcher brings the traces of the other nodes into its
 * own, so that a trace is one file: what FILE.NODE has comes over the links of the daemons
 * (dvm_exec.h), is appended to FILE in pieces as it comes (RECORD_section), and is then removed on
 * that node.  What cannot be had is named, on the terminal and in the trace.
 *
 * The daemons have not ended yet: such a trace ends when it is asked for, with nothing left out of
 * the job.  A launcher that is killed before leaves the files of the nodes where they are.
 */
#ifndef WIREUP_DAEMON_TRACE_COLLECT_H
#define WIREUP_DAEMON_TRACE_COLLECT_H

#include "base/list.h"
#include "daemon/dvm_exec.h"

struct trace_collect {
    struct cluster_io *cluster; /* NULL: not open */
    struct dvm_exec_list execs;
    struct list all;        /* those that come */
    uint32_t next, running; /* the next position; how many come */
    struct timer patience;  /* ... until more of them has come */
};

/* Launcher, after cluster_io_open() with a trace. */
void trace_collect_open(struct trace_collect *t, struct cluster_io *s);
void trace_collect_close(struct trace_collect *t); /* harmless twice, and on zeroed memory */

/* All processes have ended.  Begins it, the first time; true: the end waits, and asks again after
 * each turn of the loop.  False without a trace. */
bool trace_collect_waits(struct trace_collect *t);

#endif
