/* control.h - what processes may ask the process manager to do with others and for themselves:
 * signals, clearing up behind them, a line in a log, a proof of who they are.
 *
 * Nothing of it is done here: it is checked, remembered, and handed to the host as effects.
 */
#ifndef WIREUP_CORE_CONTROL_H
#define WIREUP_CORE_CONTROL_H

#include "core/core.h"

/* How a registered path is to be cleared up. */
enum {
    SWEEP_DIRECTORY = 1,  /* it is a directory; else a file */
    SWEEP_RECURSIVE = 2,  /* with what is in it and below */
    SWEEP_EMPTY_ONLY = 4, /* directories that are empty, and no files */
    SWEEP_LEAVE_TOP = 8   /* the directory itself stays */
};

/* rq: members (none: the whole own job), number: the signal, immediate: it is meant to end them.
 * OK, NOT_FOUND for an unknown process, RESERVED when it is no business of the asker's. */
enum answer_status control_signal(struct core *c, struct job *j, const struct request *rq);

/* A signal is meant to end rank (or REQUEST_ALL_RANKS): its end is no failure of the job. */
void control_commanded(struct job *j, uint32_t rank);

/* A client listens to rank (or REQUEST_ALL_RANKS) of a job, on these channels (0: not any more, and
 * then nspace is of no account); ear: its name for that.  Other nodes are told, if there are any.
 */
void control_listen(struct core *c, uint64_t ear, struct slice nspace, uint32_t rank,
                    uint16_t channels);

/* rq: members, value: bytes for their standard input, immediate: its end.  LATER: the host answers.
 */
enum answer_status control_input(struct core *c, struct job *j, uint64_t ticket,
                                 const struct request *rq);

/* rq: members (none: when the whole own job has ended; else one process of it), key: an absolute
 * path, number: SWEEP_..., value: names that stay, with commas. */
enum answer_status control_sweep(struct core *c, struct job *j, uint32_t rank,
                                 const struct request *rq);

/* rq: key: the channel ("stdout", "stderr", "syslog"), value: the text, number: its priority; kvs:
 * the topic of a help message that is for "stderr" and shown once, however many send it; or empty.
 */
enum answer_status control_log(struct core *c, struct job *j, uint32_t rank,
                               const struct request *rq);

/* rq: number: 0 to make one, 1 to check the one in value.  LATER: the host answers. */
enum answer_status control_credential(struct core *c, struct job *j, uint64_t ticket,
                                      const struct request *rq);

/* rank has ended (JOB_NO_RANK: all of the job has): what was registered for that goes to the host.
 */
void control_ended(struct job *j, uint32_t rank);

void control_free(struct job *j);

/* Whether a process of one job may meddle with those of another: it is its own, has been spawned by
 * it or has spawned it, or they are connected; tools may with all. */
bool control_is_free_to(const struct job *asker, const struct job *target);

#endif
