/* local_job_state.c - see local_job_state.h and local_job_state.def. */
#define STATE_TABLE_CODE
#include "daemon/local_job_state.h"
