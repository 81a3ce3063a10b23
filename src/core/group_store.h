/* group_store.h - the records (group_record.h) of collectives that are over, for the members of
 * this node: their sessions read them when they answer, and for gets later, also after the group's
 * destruction.
 *
 * It holds LIMIT_GROUP_RECORDS bytes; the oldest go first.  They go with the last of the jobs that
 * they are kept for, since an answer may be written, and a get come, when others are over.
 */
#ifndef WIREUP_CORE_GROUP_STORE_H
#define WIREUP_CORE_GROUP_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/slice.h"

struct group_store {
    struct list all; /* oldest first */
    size_t bytes;
};

void group_store_init(struct group_store *s);
void group_store_free(struct group_store *s);

/* Keeps them for that job.  The name and the records are copied, unless those of that number are
 * here for another job: then they are kept for both.  0; -ENOMEM, also for more bytes than it
 * holds. */
int group_store_keep(struct group_store *s, uint64_t number, uint32_t job, struct slice name,
                     struct slice records);
void group_store_job_ended(struct group_store *s, uint32_t job);

/* Empty: nothing is kept under it. */
struct slice group_store_find(const struct group_store *s, uint64_t number);
/* The latest of a group of that name. */
struct slice group_store_named(const struct group_store *s, struct slice name);

#endif
