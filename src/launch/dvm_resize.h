/* dvm_resize.h - `wireup grow` and `wireup shrink`: ask a DVM to take nodes in, or to let them go
 * (dvm_members.h). */
#ifndef WIREUP_LAUNCH_DVM_RESIZE_H
#define WIREUP_LAUNCH_DVM_RESIZE_H

#include "tools/command.h"

/* Return exit codes as run_command() does. */
int dvm_grow(const struct command_line *l);
int dvm_shrink(const struct command_line *l);

#endif
