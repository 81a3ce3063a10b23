/* probe.h - what one machine says to `wireup doctor`: `wireup doctor --here`, which the doctor
 * starts on every node.
 *
 * It writes the lines of report/doctor_report.h to standard output, then `ready`; when it gets a
 * line it writes `clock` and the time of the day in nanoseconds, and ends.  It changes nothing.
 */
#ifndef WIREUP_LAUNCH_PROBE_H
#define WIREUP_LAUNCH_PROBE_H

struct probe_question {
    const char *program;             /* NULL: none is asked about */
    const char *path, *library_path; /* PATH and LD_LIBRARY_PATH of the job; or NULL: ours */
    const char *route; /* the launcher's addresses, ADDRESS/PORT, separated by commas; or NULL */
};

/* An exit code. */
int probe_run(const struct probe_question *p);

#endif
