/* starter_program.h - commands that only start another program, which one of their words names:
 * env, numactl, shells and their like; and scripts, which their first line gives to another
 * program.
 */
#ifndef WIREUP_DAEMON_STARTER_PROGRAM_H
#define WIREUP_DAEMON_STARTER_PROGRAM_H

#include <stdbool.h>

#include "base/slice.h"

/* It uses no process manager itself.  With or without directories. */
bool starter_program_is(struct slice path);

/* The interpreter that the first line of a script names, behind env the word after that; empty: it
 * is no script, or not readable.  Any path; line_p has room for that line, and holds what is
 * returned. */
enum { STARTER_LINE_MAX = 256 };
struct slice starter_program_interpreter(const char *path, char line_p[STARTER_LINE_MAX]);

/* A script that one of these commands runs. */
bool starter_program_runs(const char *path);

#endif
