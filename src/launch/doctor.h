/* doctor.h - the command `wireup doctor`: looks at many machines at once, before a job runs there.
 */
#ifndef WIREUP_LAUNCH_DOCTOR_H
#define WIREUP_LAUNCH_DOCTOR_H

#include "base/log.h"
#include "report/doctor_report.h"
#include "tools/command.h"

struct doctor_wish {
    const char *hosts;    /* a,b,...; NULL: those of the host file, the allocation, or this one */
    const char *hostfile; /* or NULL */
    const char *program;  /* or NULL */
    const char *launcher_exec; /* in place of ssh; words; or NULL */
    uint32_t patience_s;
};

/* Asks all nodes.  0, or an exit code after a message; the report must be closed in any case. */
int doctor_ask(const struct doctor_wish *w, const struct log *log, struct doctor_report *r);

/* An exit code: 1 if something is bad. */
int doctor_command(const struct command_line *l);

#endif
