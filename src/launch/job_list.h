/* job_list.h - the jobs of this user on this machine, as their launchers tell them; and the one
 * place where a word of the user becomes a job.
 *
 * A job has a short id: the number of its launcher (3), and for jobs besides the first one the
 * number within that launcher behind it (3.2).  It has a name: the user's (-job-name), else that of
 * its program.  A word means, in this order, a job with that id; with that name and id (ring-3);
 * with that namespace; with that name, if only one has it; the first job of the launcher with that
 * pid.
 */
#ifndef WIREUP_LAUNCH_JOB_LIST_H
#define WIREUP_LAUNCH_JOB_LIST_H

#include "base/arena.h"
#include "base/err.h"
#include "base/log.h"
#include "io/rendezvous.h"
#include "report/job_row.h"

enum listed_state {
    LISTED_ANSWERS,
    LISTED_STOPPED, /* it cannot answer: nothing is known but its pid */
    LISTED_SILENT   /* it has not answered in time: likewise */
};

struct listed_launcher {
    struct launcher_name where;
    enum listed_state state;
    struct launcher_row row;
    uint32_t njobs;
    struct slice nodes; /* of a DVM, with usage: a line for each, `NAME SLOTS USED STATE` */
};

struct listed_job {
    const struct listed_launcher *launcher;
    struct job_row row; /* of a launcher without jobs: no ranks */
    const char *id, *name;
    bool is_none; /* the launcher has no job (a DVM, or one whose nodes come up), or is silent */
};

struct job_list {
    struct arena arena;
    struct listed_launcher *launchers;
    struct listed_job *jobs;
    uint32_t nlaunchers, njobs;
};

/* A node of a DVM; false: there is none any more. */
struct listed_node {
    struct slice name, state;
    uint32_t slots, used;
};
bool job_list_next_node(struct slice *nodes, struct listed_node *node_p);

/* Asks all launchers at once; usage: also what the processes use, on all nodes.  Those that do not
 * answer are named in the log, too; NULL: they are not, and have less time.  0 or -errno; free it in
 * any case. */
int job_list_read(struct job_list *l, bool usage, const struct log *log);
void job_list_free(struct job_list *l); /* harmless on zeroed memory, and twice */

/* A launcher has not answered: there may be more jobs. */
bool job_list_lacks_some(const struct job_list *l);

/* By their ids, as they are in the list. */
int job_list_order(const struct listed_job *a, const struct listed_job *b);

/* Reads the list, and finds the job that the word means.  NULL with a sentence; free the list in any
 * case. */
const struct listed_job *job_list_find(struct job_list *l, const char *word, const struct log *log,
                                       struct errmsg *err);

/* Sends a signal to all processes of the job.  0, or 1 with a sentence. */
int job_list_signal(const struct listed_job *j, int sig, struct errmsg *err);

#endif
