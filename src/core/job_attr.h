/* job_attr.h - attributes of a job and of its nodes that are computed when they are asked for: the
 * rows MADE of proto/pmi2_attributes.def. */
#ifndef WIREUP_CORE_JOB_ATTR_H
#define WIREUP_CORE_JOB_ATTR_H

#include "core/job.h"

/* OK or NOT_FOUND; the value is static. */
enum answer_status job_attr_made(const struct job *j, struct slice key, struct slice *value_p);

/* Of the node of the plan; appends its value.  False: there is no such attribute, or its value is
 * longer than a value may be. */
bool job_attr_of_node(const struct job *j, uint32_t node, struct slice key, struct buf *out);

#endif
