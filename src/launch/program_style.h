/* program_style.h - which variables a program wants, as its first file tells: the choice of
 * `-env-style auto`.
 *
 * A Python program has the style of the modules that it imports (the rows MODULE of
 * proto/environment_styles.def), torch if it imports none of them: what it does import may import
 * one.  It is looked for behind commands that only start another one (daemon/starter_program.h).
 * Nothing is run, and each program of a command line is read once, its first PROGRAM_STYLE_TEXT
 * bytes.
 */
#ifndef WIREUP_LAUNCH_PROGRAM_STYLE_H
#define WIREUP_LAUNCH_PROGRAM_STYLE_H

#include "core/job_map.h"
#include "daemon/environment_style.h"

enum { PROGRAM_STYLE_TEXT = 32768 };

/* By its path, words and working directory.  Files need not be there. */
enum environment_style program_style_of(const struct job_map_app *app);

/* By the text of a Python program, or its beginning: any bytes. */
enum environment_style program_style_of_text(struct slice text);

#endif
