/* journal.h - writes a line to the machine's system log.  (A module of its own, because the names
 * in syslog's header collide with ours.)
 */
#ifndef WIREUP_IO_JOURNAL_H
#define WIREUP_IO_JOURNAL_H

#include "base/slice.h"

/* priority: as in syslog(3), without a facility. */
void journal_write(int priority, struct slice text);

#endif
