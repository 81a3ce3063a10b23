/* run_command.h - runs the commands of wireup other than `run` (tools/command.h). */
#ifndef WIREUP_LAUNCH_RUN_COMMAND_H
#define WIREUP_LAUNCH_RUN_COMMAND_H

#include <stdbool.h>

#include "base/log.h"

/* True if argv names a command other than `run`; its exit code is then in *code_p: 0 done; 1
 * nothing found, no answer, or a difference; 2 the command line or the file is wrong. */
bool run_command(int argc, char **argv, const struct log *log, int *code_p);

/* The command whose name differs from the word by one letter, or NULL. */
const char *run_command_near(const char *word);

#endif
