/* phase.c - see phase.h and phase.def. */
#define STATE_TABLE_CODE
#include "daemon/phase.h"

#include <signal.h>

bool phase_is_end(int sig)
{
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
}
