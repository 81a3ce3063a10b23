/* silent_launcher.h - a launcher that does not answer: how long it is waited for, and what its user
 * is told.  One that is stopped answers nobody; one that is short of processors answers late.
 */
#ifndef WIREUP_LAUNCH_SILENT_LAUNCHER_H
#define WIREUP_LAUNCH_SILENT_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "io/rendezvous.h"

struct silent_launcher {
    pid_t pid, worker; /* the one that users know, and the one that answers; perhaps the same */
    bool stopped;
    bool both; /* ... both of them */
};

/* Between two looks at launchers that are waited for. */
enum { SILENT_LAUNCHER_STEP_MS = 200 };

/* False: it has ended, or is a daemon, about which its launcher reports. */
bool silent_launcher_look(const struct launcher_name *who, struct silent_launcher *s_p);

/* It is worth waiting for. */
bool silent_launcher_may_answer(const struct launcher_name *who);

/* Waits for so long until there is something to read, and not for one that is stopped; whoever sits
 * at a terminal is told.  True: there is. */
bool silent_launcher_wait(int fd, const struct launcher_name *who, int patience_ms,
                          const struct log *log);

/* At a terminal: that it is waited for; else nothing. */
void silent_launcher_note_wait(const struct launcher_name *who, const struct log *log);

void silent_launcher_warn(const struct silent_launcher *s, const struct log *log);

#endif
