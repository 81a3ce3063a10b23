/* startup_timing.h - where the start-up time went (-report-startup): a node notes by its own clock
 * the steps of its processes (core/startup.h), and reports to the launcher when they have left
 * their first fence, each later fence that carried data, and when they have ended; the launcher
 * prints the report (report/startup_report.h).
 *
 * The report is printed when all addresses have reached all nodes, or when nothing has followed for
 * a while, or at the end; the report of the end is printed when nothing is left.  Spawned jobs are
 * not included.  When the report is not requested, all calls do nothing.
 */
#ifndef WIREUP_DAEMON_STARTUP_TIMING_H
#define WIREUP_DAEMON_STARTUP_TIMING_H

#include "base/slice.h"
#include "core/startup.h"
#include "io/loop.h"

struct node_context;
struct job;
struct startup_report;

struct startup_timing {
    const struct node_context *context; /* NULL: not requested */
    bool begun, sent, sent_end;
    struct startup own;
    struct startup_report *report; /* launcher */
    struct timer patience;         /* launcher: ends the wait for more parts */
    bool reported;
};

/* Launcher: the user wants the report.  0 or -ENOMEM. */
int startup_timing_open(struct startup_timing *t, const struct node_context *c);
void startup_timing_close(struct startup_timing *t); /* harmless twice, and on zeroed memory */

/* Everything below is harmless when the report was not requested. */

/* Launcher: a daemon is linked. */
void startup_timing_ready(struct startup_timing *t, uint32_t position);
/* The job begins here.  A daemon: the launcher wants its part; it received the job at known_ns. */
void startup_timing_begin(struct startup_timing *t, const struct node_context *c,
                          const struct job *j, uint64_t known_ns);
bool startup_timing_wants(const struct startup_timing *t, const struct job *j);

void startup_timing_note(struct startup_timing *t, const struct job *j, uint32_t rank,
                         enum startup_point p);
/* All answers are written. */
void startup_timing_settle(struct startup_timing *t);
/* All processes of the job have ended here. */
void startup_timing_over(struct startup_timing *t, const struct job *j);
/* Launcher: all daemons have ended. */
void startup_timing_unshared(struct startup_timing *t);

/* Launcher: a daemon's part has arrived. */
void startup_timing_receive(struct startup_timing *t, uint32_t position, uint64_t job,
                            struct slice part);
/* Launcher: a node is lost; its part is not awaited. */
void startup_timing_lost(struct startup_timing *t);

/* Launcher: prints the phases that have not been reported yet. */
void startup_timing_finish(struct startup_timing *t);

#endif
