/* journal.c - see journal.h. */
#include "io/journal.h"

#include <syslog.h>

void journal_write(int priority, struct slice text)
{
    syslog(LOG_USER | (priority & LOG_PRIMASK), SLICE_FMT, SLICE_ARG(text));
}
