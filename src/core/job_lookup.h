/* job_lookup.h - gets of a key-value space for values that fences have left on other nodes
 * (ondemand.h).
 *
 * A get names a key, and perhaps who has put it.  If not, the last number in the key is taken for a
 * rank, since most keys contain that of their process; the node of that rank is asked first.  If
 * the key is not there, all nodes are asked for all that they have: then, until the next fence of
 * the job, every key is here or does not exist.
 */
#ifndef WIREUP_CORE_JOB_LOOKUP_H
#define WIREUP_CORE_JOB_LOOKUP_H

#include "core/job.h"

/* A get of this key brings the values of all nodes first; its own answer is NOT_FOUND.  (libpmi
 * sends it before it lists the keys of the store.) */
#define JOB_LOOKUP_ALL "PMI_fetch_all"

/* Keys "PMI_fetch_node:RANK", and proc, app and job in the place of node: hints.  A get of one
 * brings the values that these words name (ondemand.h), and is answered, with this value, when
 * those of the rank are here. */
#define JOB_LOOKUP_HINT    "PMI_fetch_"
#define JOB_LOOKUP_FETCHED "fetched"

struct job_lookup {
    struct slice space, key; /* no key: the pair with that index */
    uint64_t index;
    uint32_t rank; /* that has put it; JOB_NO_RANK: not known */
    uint64_t ticket;
};

/* The key is not here.  OK: it is a hint, for which nothing had to be asked.  LATER: the answer of
 * the get, or of the get by index, follows; NOT_FOUND: it does not exist; NO_MEMORY. */
enum answer_status job_lookup(struct job *j, const struct job_lookup *g);

/* Values have come. */
void job_lookup_go_on(struct job *j);
/* A fence of the whole job is over: what was asked before it does not count. */
void job_lookup_ask_again(struct job *j);

#endif
