/* pmix_info.h - job-level information for every process of a job, from its plan. */
#ifndef WIREUP_SERVER_PMIX_INFO_H
#define WIREUP_SERVER_PMIX_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"
#include "pmix_common.h"

struct job;
struct ppack;
struct ptype_flavour;

/* The KVALs of a job's job-level information in this encoding, made once.  Empty: no memory.  Of
 * each process it has what its peers ask for; pmix_put_own_info has what the process itself does.
 */
struct slice pmix_job_info(struct job *j, const struct ptype_flavour *as, bool described);
void pmix_put_own_info(struct ppack *w, const struct job *j, uint32_t rank);
/* The job-level information has changed: it is made again at the next use. */
void pmix_job_info_changed(struct job *j);
/* Puts it into the job's store too, once, where Wireup's own clients look for it.  False: there is
 * no room for it. */
bool pmix_make_job_info(struct job *j);

/* A copy of a value in the array of one of its nodes.  False: it has no such key, or there is no
 * memory. */
bool pmix_node_value(const struct job *j, uint32_t node, const char *key, pmix_value_t *v_p);

/* PMIX_NODE_MAP_RAW or PMIX_PROC_MAP_RAW, in memory of its own.  False: another key, not known, or
 * no memory. */
bool pmix_raw_map(const struct job *j, const char *key, pmix_value_t *v_p);

/* Whether this node knows how often a process was started again: that is counted where it runs. */
bool pmix_knows_restarts(const struct job *j, uint32_t rank);

/* KVALs of one process of it. */
void pmix_put_rank_info(struct ppack *w, const struct job *j, uint32_t rank);

/* KVALs that tell this process, and no other, where it is to stop for a debugger; and whether there
 * are any. */
void pmix_put_stops(struct ppack *w, const struct job *j, uint32_t rank);
bool pmix_stops(const struct job *j, uint32_t rank);

/* The session directories of a job, and of one of its processes (or PMIX_RANK_WILDCARD).  They are
 * given on request, and to clients of OpenPMIx, which get all information at once: the host makes
 * them then. */
void pmix_put_places(struct ppack *w, const struct job *j, uint32_t rank);

#endif
