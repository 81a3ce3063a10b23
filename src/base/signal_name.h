/* signal_name.h - signals by the words that users write. */
#ifndef WIREUP_BASE_SIGNAL_NAME_H
#define WIREUP_BASE_SIGNAL_NAME_H

#include <stdbool.h>

#include "base/slice.h"

/* "INT", "SIGINT", "int", "2"; 0: it is no signal. */
int signal_number(struct slice word);

/* Whether it asks programs to end: INT, QUIT, TERM and KILL.  (HUP makes many read their settings
 * again, and the others mean what the program says.) */
bool signal_asks_end(int sig);

#endif
