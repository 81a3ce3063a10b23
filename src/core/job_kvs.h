/* job_kvs.h - the key-value spaces of a job: puts and gets of PMI, and the server's own entries.
 *
 * All spaces of a job are in its one store, which clients read too: an entry of a further space has
 * the space's name in its key.
 */
#ifndef WIREUP_CORE_JOB_KVS_H
#define WIREUP_CORE_JOB_KVS_H

#include "core/job.h"

/* Bytes that the job could not keep are an error of the putter: OK, or the reason. */
enum answer_status job_put(struct job *j, uint32_t rank, struct slice space, struct slice key,
                           struct slice value);
/* The server's own entries (process mapping ...); replaces. */
enum answer_status job_preset(struct job *j, struct slice key, struct slice value);
/* Entries that clients find in the store without a request, and that no protocol's get returns. */
enum answer_status job_put_info(struct job *j, struct slice key, struct slice value);
enum answer_status job_get(const struct job *j, struct slice space, struct slice key,
                           struct slice *value_p);
/* The same, preferring the value of this rank (only PMIx ranks can share a key). */
enum answer_status job_get_of(const struct job *j, struct slice space, uint32_t rank,
                              struct slice key, struct slice *value_p);
/* Values that the process manager itself provides: finds presets only. */
enum answer_status job_attr(const struct job *j, struct slice key, struct slice *value_p);
enum answer_status job_get_index(const struct job *j, struct slice space, uint64_t index,
                                 struct slice *key_p, struct slice *value_p);
enum answer_status job_space_new(struct job *j, struct slice *name_p);
enum answer_status job_space_delete(struct job *j, struct slice name);

#endif
