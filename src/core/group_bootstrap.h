/* group_bootstrap.h - groups whose members do not know each other: leaders that know how many they
 * are, and processes that they add.
 *
 * One core decides for all nodes, the one that keeps the published names; the others pass requests
 * on to it (EFFECT_group_bootstrap).  It knows of every call and of every end of a process, so all
 * who call get the same outcome, in this order:
 *
 *   - The group is complete when all leaders have called, and all that they add.
 *   - A leader that has called and a process that is added are members.  One that ends before the
 *     group is complete fails it for all; it is left out when every leader bears that.
 *   - A leader that has not called is not known.  When a process has ended without having called,
 *     and fewer are alive outside the call than leaders are missing, the missing ones will never
 *     come, nor be known whom they would have added: it fails for all, whatever the leaders bear.
 *   - A call whose time-out passes is withdrawn, and its caller is missing again.
 *
 * Who belongs to a group that has failed, but had not called, fails when it does: it is owed that
 * outcome, once. */
#ifndef WIREUP_CORE_GROUP_BOOTSTRAP_H
#define WIREUP_CORE_GROUP_BOOTSTRAP_H

#include "core/core.h"
#include "core/core_call.h"

/* Leaders that know each other: each adds the same processes, all leaders among them, so there is
 * no leader that is not known, and nobody whom only one that has ended would have added. */
#define GROUP_LEADERS_NAMED UINT64_MAX

/* A list of processes in a request: for each its job's number and its rank, as in wire/parts.h. */
void group_bootstrap_put(struct buf *out, const struct job *j, uint32_t rank);

/* LATER; FAILED: the group has failed without the requester; NOT_FOUND: a process that it names is
 * unknown; BAD_KEY: it contradicts a leader, or calls twice.  The answer's records (group_record.h)
 * are the members, in order, and their data. */
enum answer_status group_bootstrap_enter(const struct core_call *k);

/* The process has ended. */
void group_bootstrap_gone(struct core *c, const struct job *j, uint32_t rank);
void group_bootstrap_job_ended(struct core *c);

/* Answers calls whose time-out has passed; returns the next deadline, or UINT64_MAX. */
uint64_t group_bootstrap_tick(struct core *c, uint64_t now_ns);

void group_bootstraps_free(struct core *c);

#endif
