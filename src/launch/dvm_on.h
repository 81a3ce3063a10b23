/* dvm_on.h - `wireup on NODE WORDS...`, called like ssh: runs the words as a command on that node of
 * a DVM (daemon/dvm_request.h); its input and output are ours. */
#ifndef WIREUP_LAUNCH_DVM_ON_H
#define WIREUP_LAUNCH_DVM_ON_H

#include "base/log.h"

/* The exit code: that of the command, 128 and the number of the signal that has ended it; 125 with a
 * sentence: it was not run, or how it has ended is not known; 2: wrong words. */
int dvm_on(int argc, char **argv, const struct log *log);

#endif
