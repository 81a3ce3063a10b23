/* journal.h - a line in the machine's system log.  (Apart, because its header's names are ours
 * too.)
 */
#ifndef WIREUP_IO_JOURNAL_H
#define WIREUP_IO_JOURNAL_H

#include "base/slice.h"

/* priority: as in syslog(3), without a facility. */
void journal_write(int priority, struct slice text);

#endif
