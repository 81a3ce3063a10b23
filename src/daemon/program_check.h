/* program_check.h - programs that cannot run here: those for other machines, and those whose shared
 * libraries are not found.
 *
 * The dynamic loader writes a line to standard error and exits with 127, in each process: a
 * thousand equal lines.  A first line of exactly that form is held back until its process ends; if
 * the process exits with 127, has written nothing else and has sent us nothing, its rank and the
 * line are kept here, and reported in one sentence for all ranks of the job.  Otherwise the line is
 * shown unchanged: nothing is ever dropped.
 */
#ifndef WIREUP_DAEMON_PROGRAM_CHECK_H
#define WIREUP_DAEMON_PROGRAM_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/log.h"
#include "base/slice.h"

/* An ELF file that this kernel refuses (ENOEXEC): why is the sentence.  False: not such a file. */
bool program_is_foreign(const char *path, struct errmsg *why);

/* One whole line of the loader: "PROGRAM: error while loading shared libraries: ...\n". */
bool program_is_unloaded(struct slice line);

/* Such failures of one job.  Initialized by list_init(). */
struct unloaded {
    struct list all;
};

/* An entry for which there is no memory is not reported. */
void unloaded_add(struct unloaded *u, uint32_t rank, struct slice line);
bool unloaded_has(const struct unloaded *u, uint32_t rank);
/* One sentence for each reason: "ranks 0-3 could not start ./prog: libfoo.so is not found". */
void unloaded_report(struct unloaded *u, const struct log *log);
void unloaded_free(struct unloaded *u); /* harmless twice */

#endif
