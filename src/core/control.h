/* control.h - requests of processes about other processes and for themselves:
 * signals, cleanup, log lines, credentials.
 *
 * Nothing is carried out here: a request is checked, recorded, and passed to the host as effects.
 */
#ifndef WIREUP_CORE_CONTROL_H
#define WIREUP_CORE_CONTROL_H

#include "core/core.h"

struct request_signal;
struct request_input;
struct request_register_cleanup;
struct op_cleanup;
struct request_log;
struct request_credential;

/* How a registered path is cleaned up. */
enum {
    CLEANUP_DIRECTORY = 1,  /* a directory; otherwise a file */
    CLEANUP_RECURSIVE = 2,  /* with everything in and below it */
    CLEANUP_EMPTY_ONLY = 4, /* only empty directories, no files */
    CLEANUP_LEAVE_TOP = 8,  /* the directory itself stays */
    CLEANUP_SEGMENT = 16    /* a System V shared memory segment: the path is its number */
};

/* How a logged text looks (daemon/log_format.h). */
enum { CONTROL_LOG_TIME = 1, CONTROL_LOG_TAG = 2, CONTROL_LOG_XML = 4 };

/* Besides absolute paths, a registration may name shared memory: "shm:/name" (POSIX) and
 * "sysv:NUMBER" (what shmget() returns).  A put of this key, or of one that begins with it and a
 * dot, registers the resources of its value, which are separated by commas, for removal at the end
 * of the job: nothing is stored. */
#define CLEANUP_KEY  "wireup.cleanup"
#define CLEANUP_SHM  "shm:/"
#define CLEANUP_SYSV "sysv:"

bool control_is_cleanup_key(struct slice key);

/* OK, NOT_FOUND for an unknown process, RESERVED when the requester has no right to signal it. */
enum answer_status control_signal(struct core *c, struct job *j, const struct request_signal *rq);
/* Lets a process of this node go on that has been stopped. */
void control_continue(struct job *j, uint32_t rank);

/* Whether a process of the job may act on all of these.  OK; NOT_FOUND; RESERVED: of a job that is
 * not related. */
enum answer_status control_members(const struct core *c, const struct job *j,
                                   const struct member *members, uint32_t n);

/* A signal is meant to end rank (or REQUEST_ALL_RANKS): its exit is not a failure of the job.
 * With REQUEST_ALL_RANKS the job has been asked to end. */
void control_commanded(struct job *j, uint32_t rank);

/* Among the channels of a subscription: what is read for it is shown by nobody else. */
enum { IOF_REDIRECTS = 0x8000 };

/* A client subscribes to the output of rank (or REQUEST_ALL_RANKS) of a job on these channels (0:
 * unsubscribes, and nspace is ignored); subscription is its number.  Other nodes, if any,
 * are notified. */
void control_iof_subscribe(struct core *c, uint64_t subscription, struct slice nspace,
                           uint32_t rank, uint16_t channels);

/* LATER: the host answers. */
enum answer_status control_input(struct core *c, struct job *j, uint64_t ticket,
                                 const struct request_input *rq);

enum answer_status control_register_cleanup(struct core *c, struct job *j, uint32_t rank,
                                            const struct request_register_cleanup *rq);
/* What rank has registered under that id is not cleaned up (empty: all that it has registered).
 * NOT_FOUND: there is nothing. */
enum answer_status control_cancel_cleanup(struct job *j, uint32_t rank, struct slice id);

/* All that is registered now, as the effects that will come. */
typedef void control_cleanup_fn(void *arg, const struct op_cleanup *e);
void control_each_cleanup(const struct job *j, control_cleanup_fn *fn, void *arg);

/* The value of a put of such a key.  As control_register_cleanup(); resources before the first that
 * is refused are registered. */
enum answer_status control_register_resources(struct core *c, struct job *j, uint32_t rank,
                                              struct slice resources);

enum answer_status control_log(struct core *c, struct job *j, uint32_t rank,
                               const struct request_log *rq);

/* LATER: the host answers. */
enum answer_status control_credential(struct core *c, struct job *j, uint32_t rank, uint64_t ticket,
                                      const struct request_credential *rq);

/* rank has ended (JOB_NO_RANK: the whole job has): the cleanup registered for that goes to the
 * host. */
void control_ended(struct job *j, uint32_t rank);

#endif
