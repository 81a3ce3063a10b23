/* core_names.h - published names: requests of processes, look-ups that wait, and answers of
 * other launchers.  The names themselves are in nameservice.h. */
#ifndef WIREUP_CORE_CORE_NAMES_H
#define WIREUP_CORE_CORE_NAMES_H

#include "core/core_call.h"

/* A process as the name service knows it; of a job that is not there only the numbers. */
struct name_proc core_names_proc(const struct core *c, uint32_t job, uint32_t rank);

/* The three requests. */
enum answer_status core_names_publish(const struct core_call *k);
enum answer_status core_names_unpublish(const struct core_call *k);
enum answer_status core_names_lookup(const struct core_call *k);

/* The requesters with these tickets (first..last) have gone: their look-ups are dropped, so that
 * none consumes a name that may be read only once. */
void core_names_drop_lookups(struct core *c, uint64_t first, uint64_t last);

/* The look-ups of a process, or (JOB_NO_RANK) of a whole job, wait no more. */
void core_names_stop_lookups(struct core *c, uint32_t job, uint32_t rank);

/* A process has ended, or a whole job: its names are removed, as far as they do not stay. */
void core_names_proc_ended(struct core *c, const struct job *j, uint32_t rank);
void core_names_job_ended(struct core *c, const struct job *j);

/* Answers a look-up that had to wait, from the names that are published now. */
void core_names_lookup_now(struct core *c, const struct nameservice_query *q, struct answer *a_p);

/* Withdraws a name at the request of another launcher: on this range the one of this publisher; on
 * NAME_RANGE_DEFAULT the one that all may read, whoever published it. */
enum answer_status core_names_withdraw(struct core *c, struct slice service, enum name_range range,
                                       const struct name_proc *owner);

/* The neighbours have answered: found tells whether one of them has (or had, and has withdrawn) the
 * name, with its port.  Completes the query and fills the answer, which borrows from port. */
void core_names_receive(struct core *c, uint64_t ticket, const struct nameservice_query *q,
                        bool found, struct slice port, uint16_t type, struct answer *a_p);

/* A neighbour has published that name: the look-ups that wait for it ask the neighbours again. */
void core_names_ask_again(struct core *c, struct slice service);

/* Answers the look-ups whose time-out has passed; returns the next deadline, or UINT64_MAX. */
uint64_t core_names_tick(struct core *c, uint64_t now_ns);

#endif
