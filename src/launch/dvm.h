/* dvm.h - the DVM (standing daemons): `wireup up` starts the daemons of many nodes once, and stays
 * in the background; `wireup run` starts its own daemons through them, in milliseconds; `wireup ps`
 * lists its jobs; `wireup down` ends it.  There may be several, by name (dvm_find.h).  See
 * daemon/dvm_exec.h and, for their slots, daemon/dvm_leases.h.
 *
 * PMIx tools attach to its launcher as to every other and start jobs by PMIx_Spawn: these are jobs
 * of the DVM itself, on all its nodes, with the environment of `wireup up`.
 */
#ifndef WIREUP_LAUNCH_DVM_H
#define WIREUP_LAUNCH_DVM_H

#include "base/log.h"
#include "tools/command.h"
#include "launch/options.h"
#include "launch/plan_builder.h"

/* `wireup up OPTIONS`; returns the exit code. */
int dvm_up(int argc, char **argv, const struct log *log);

int dvm_down(const struct command_line *l);
/* `up` and `on` parse their own words; these rows of the table are for the documents. */
int dvm_misused(const struct command_line *l);

#endif
