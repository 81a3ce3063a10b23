/* signal_name.h - signals by the words that users write. */
#ifndef WIREUP_BASE_SIGNAL_NAME_H
#define WIREUP_BASE_SIGNAL_NAME_H

#include "base/slice.h"

/* "INT", "SIGINT", "int", "2"; 0: it is no signal. */
int signal_number(struct slice word);

#endif
