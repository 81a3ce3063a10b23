/* job_table.h - a list of jobs (job_list.h) as people read it, and as JSON (docs/json.md). */
#ifndef WIREUP_LAUNCH_JOB_TABLE_H
#define WIREUP_LAUNCH_JOB_TABLE_H

#include "launch/job_list.h"

/* The columns, each of which the table can be sorted by. */
enum job_column {
    JOB_COLUMN_ID,
    JOB_COLUMN_NAME,
    JOB_COLUMN_RANKS,
    JOB_COLUMN_NODES,
    JOB_COLUMN_STATE,
    JOB_COLUMN_TIME,
    JOB_COLUMN_CPU,
    JOB_COLUMN_MEMORY,
    JOB_COLUMN_LAUNCHER,
    JOB_COLUMN_WAITS,
    JOB_COLUMN_NAMESPACE,
    JOB_COLUMNS
};

/* A line of titles and one for each job.  width: lines end there, and the namespace, which is long,
 * is left out; 0: they are as long as they are. */
void job_table_text(const struct job_list *l, uint32_t width, struct buf *out);

/* The nodes of DVMs: a line of titles and one for each. */
void job_table_nodes(const struct job_list *l, struct buf *out);

/* An object with its schema. */
void job_table_json(const struct job_list *l, const char *schema, struct buf *out);

/* Numbers: the largest first; ids and texts: the smallest; those that are equal by their ids. */
void job_table_sort(struct job_list *l, enum job_column by);

#endif
