/* pmix_query_jobs.h - a process as clients see it in tables. */
#ifndef WIREUP_SERVER_PMIX_QUERY_JOBS_H
#define WIREUP_SERVER_PMIX_QUERY_JOBS_H

#include <stdint.h>

#include "pmix_common.h"

struct job;

/* Into memory that has nothing yet; the texts are the caller's to free. */
void pmix_describe_proc(pmix_proc_info_t *to, const struct job *j, uint32_t rank);

#endif
