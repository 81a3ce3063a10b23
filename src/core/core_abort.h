/* core_abort.h - a process aborts its job, processes of it, or another job. */
#ifndef WIREUP_CORE_CORE_ABORT_H
#define WIREUP_CORE_CORE_ABORT_H

#include "core/core_call.h"

/* Without members, or with all that are left of the own job: the own job fails and ends.  Others
 * are killed, and their job goes on if any are left; it has failed, with that code and sentence.
 * OK, NOT_FOUND (no such process), RESERVED (one of a job that is neither the own one nor related),
 * or NO_MEMORY. */
enum answer_status core_abort(const struct core_call *k);

#endif
