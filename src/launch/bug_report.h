/* bug_report.h - the command `wireup bug-report`: one archive with all that a report about a fault
 * needs.
 *
 * It has the version, what the doctor has found, the variables that process managers and MPI
 * libraries read, and the traces of a job.  No secrets: of variables whose names look like those of
 * keys and passwords there is the name alone, other variables are not looked at; a trace must be
 * one in which credentials have been overwritten.
 */
#ifndef WIREUP_LAUNCH_BUG_REPORT_H
#define WIREUP_LAUNCH_BUG_REPORT_H

#include "tools/command.h"

/* An exit code. */
int bug_report_command(const struct command_line *l);

#endif
