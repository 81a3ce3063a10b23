/* pending_query.h - who is missing, over all nodes: the launcher asks each daemon for its part
 * (report/who_part.h), waits a moment for the answers, and reports all parts together.  The report
 * names the nodes that did not answer; a lost daemon is not waited for.  If stacks are wanted, the
 * nodes that have answered are then asked for those of their processes (stacks.h).
 *
 * The same gathering answers what the processes use (report/job_row.h), for `wireup ps` and
 * `wireup top`: nothing is measured unless somebody asks.
 *
 * Alone, or if no daemon answers, the report covers the launcher's own core.  A daemon reports
 * nothing by itself: its launcher does.
 */
#ifndef WIREUP_DAEMON_PENDING_QUERY_H
#define WIREUP_DAEMON_PENDING_QUERY_H

#include "base/list.h"
#include "base/slice.h"
#include "base/buf.h"
#include "cluster/msg_address.h"
#include "daemon/stacks.h"
#include "io/job_number.h"
#include "io/look.h"

struct node_context;

struct pending_queries {
    const struct node_context *context; /* NULL: not open */
    struct list all;
    uint64_t next;           /* ticket */
    struct proc_looks looks; /* at the processes of this node */
    struct stacks stacks;
    struct list asked;        /* struct asked_stacks: a daemon's, which it was asked for */
    struct job_number number; /* by which people name this launcher, */
    uint32_t first;           /* and its first job; JOB_NO_RANK: it has none yet */
};

/* The report, for people or programs, or a line that begins with `error:`. */
typedef void pending_query_fn(void *arg, struct slice report);

void pending_queries_open(struct pending_queries *q, const struct node_context *c);
void pending_queries_close(
    struct pending_queries *q); /* done is not called; harmless twice, and on zeroed memory */

/* A launcher leads this job (JOB_NO_RANK: none, it is a DVM): from now on it has a number. */
void pending_queries_lead(struct pending_queries *q, uint32_t job);

/* words: `[usage] [json] [stacks] [JOB]`; usage: lines of job_row.h instead of a report.  done is
 * called once: now or later. */
void pending_query_begin(struct pending_queries *q, struct slice words, pending_query_fn *done,
                         void *arg);

/* The lines of job_row.h at once, with what the launcher itself knows: no process is looked at. */
void pending_query_jobs(const struct pending_queries *q, struct buf *out);

/* The requester with this arg has gone. */
void pending_query_forget(struct pending_queries *q, const void *arg);

/* A daemon was asked: appends its part; or sends the stacks to that position when it has them. */
void pending_query_part(struct pending_queries *q, struct slice job, bool usage, struct buf *out);
void pending_query_stacks(struct pending_queries *q, uint32_t from, uint64_t ticket,
                          struct slice job);

/* Launcher: a daemon's part has arrived. */
void pending_query_receive(struct pending_queries *q, uint32_t position, uint64_t ticket,
                           struct slice text);

/* Launcher: that daemon is lost, and no query waits for its part any longer. */
void pending_query_lost(struct pending_queries *q, uint32_t position);

#endif
