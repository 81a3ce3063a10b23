/* dvm.h - a standing system: `wireup up` starts the daemons of many nodes once, and stays
 * behind the terminal; `wireup run` starts its own daemons through them, in milliseconds; `wireup
 * ps` tells what runs; `wireup down` ends it.  See wireupd/dvm_exec.h.
 */
#ifndef WIREUP_WIREUP_DVM_H
#define WIREUP_WIREUP_DVM_H

#include "base/log.h"
#include "wireup/command.h"
#include "wireup/options.h"

/* `wireup up OPTIONS`; the exit code. */
int dvm_up(int argc, char **argv, const struct log *log);

/* `wireup on NODE WORDS...`, called as ssh is: the words become a program on that node of the
 * standing system; input and output are ours. */
int dvm_on(int argc, char **argv, const struct log *log);

int dvm_down(const struct command_line *l);
/* `up` and `on` take words of their own; these rows of the table are for the documents. */
int dvm_misused(const struct command_line *l);

/* `wireup run` that names no nodes: those of the standing system, if there is one, and the command
 * that starts daemons on them.  True: found. */
bool dvm_nodes(struct arena *a, struct host_list *list, const char **exec_p);

#endif
