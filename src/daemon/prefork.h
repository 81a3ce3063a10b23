/* prefork.h - programs that are loaded once on a node and forked for each of its ranks: -prefork
 * (docs/design/prefork.md).
 *
 * A second way to start a process, beside child_start(): what a rank gets is the same.  It is tried
 * where the user asks for it, and nothing depends on it: a program that cannot be started so, or
 * whose zygote (io/zygote.h) is killed, is started by child_start(), and one line says why.
 */
#ifndef WIREUP_DAEMON_PREFORK_H
#define WIREUP_DAEMON_PREFORK_H

#include "daemon/local_job.h"
#include "io/child.h"

struct elf_cache;
struct prefork;

/* Whether the program of that rank of this node shall be loaded, and has not been tried yet. */
bool prefork_is_wanted(const struct local_job *w, uint32_t rank);

/* Tries it once, for all ranks of this node that run it.  like: as that rank would be started, with
 * the environment that all have in common.  True: the job waits (LOCAL_JOB_STATE_LOADING), and goes
 * on by itself. */
bool prefork_load(struct local_job *w, uint32_t rank, struct elf_cache *files,
                  const struct child_plan *like);

/* Starts the process of that rank.  0 and its pid; PREFORK_NOT: it is to be started as usual. */
enum { PREFORK_NOT = 1 };
int prefork_start(struct local_job *w, uint32_t rank, const struct child_plan *plan, pid_t *pid_p);

/* False: that child is none of ours. */
bool prefork_reaped(struct local_jobs *jobs, pid_t pid);

/* All ranks have been tried: what stays loaded are programs whose ranks may be started again. */
void prefork_all_tried(struct local_job *w);

/* The library that makes a program a zygote, in the arena; NULL: it is not installed beside us. */
const char *prefork_library(struct arena *a);

/* No rank of the job is started any more.  Harmless twice. */
void prefork_close(struct local_job *w);

#endif
