/* modex_keys.h - which keys each process has put, and which of them the other nodes do not have
 * yet.
 *
 * The keys' bytes lie in the job's store, which never moves.  A key is fresh from its put until a
 * fence of the whole job has brought it to the other nodes.
 */
#ifndef WIREUP_CORE_MODEX_KEYS_H
#define WIREUP_CORE_MODEX_KEYS_H

#include "core/block.h"
#include "core/job.h"

/* A key is seen for the first time; it lies in the store.  0 or -ENOMEM. */
int modex_keys_add(struct proc *p, struct slice key);

/* A key that the process has put, or put again; its bytes lie in the store.  To all: a fence brings
 * its value to all nodes, even if it leaves others where they are (ondemand.h).  0 or -ENOMEM. */
int modex_keys_add_fresh(struct job *j, uint32_t rank, struct slice key, bool to_all);

enum fresh_part { FRESH_ALL, FRESH_TO_ALL, FRESH_OTHERS };

/* Appends fresh entries of a process; collect: PMIx modex values too, not only PMI puts. */
void modex_keys_write_fresh(const struct job *j, uint32_t rank, enum fresh_part part, bool collect,
                            struct block_writer *w);

/* A fence that was to bring them to other nodes has failed: all keys are fresh again, but for those
 * of further key-value spaces.  0 or -ENOMEM. */
int modex_keys_renew(struct job *j, uint32_t rank);

/* All nodes have them now.  Modex values that a fence without data left out stay fresh. */
void modex_keys_sent(struct job *j, uint32_t rank, bool collect);

/* Appends the values of one process for other nodes. */
void modex_keys_write_all(const struct job *j, uint32_t rank, struct block_writer *w);

void modex_keys_free(struct proc *p);

#endif
