/* conform.h - `wireup conform`: becomes the program wireup-conform (tools/conform/conform.c). */
#ifndef WIREUP_LAUNCH_CONFORM_H
#define WIREUP_LAUNCH_CONFORM_H

#include "base/log.h"

/* Returns only when that fails: the exit status. */
int conform_become(char **argv, const struct log *log);

#endif
