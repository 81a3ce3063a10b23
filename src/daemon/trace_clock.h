/* trace_clock.h - compares the clock of a node that writes a trace with the launcher's, so that the
 * traces of all nodes can be read as one.
 *
 * The daemon asks the launcher for the time over their links, a few times, and writes each answer
 * into its trace: its clock showed something between the question and the answer when the
 * launcher's showed what was told.  The shortest round trip bounds the difference best.
 *
 * The launcher's trace tells when each daemon came up.
 */
#ifndef WIREUP_DAEMON_TRACE_CLOCK_H
#define WIREUP_DAEMON_TRACE_CLOCK_H

#include <stdint.h>

struct cluster_io;
struct op_clock;

/* A daemon whose trace has just begun: asks. */
void trace_clock_begin(struct cluster_io *s);

/* The launcher: this daemon is up. */
void trace_clock_up(struct cluster_io *s, uint32_t position);

/* MSG_clock: a question at the launcher, an answer at a daemon. */
void trace_clock_receive(struct cluster_io *s, uint32_t from, const struct op_clock *m);

#endif
