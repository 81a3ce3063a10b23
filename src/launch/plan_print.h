/* plan_print.h - a plan for people (--dry-run, --report-bindings) and for programs (--json). */
#ifndef WIREUP_LAUNCH_PLAN_PRINT_H
#define WIREUP_LAUNCH_PLAN_PRINT_H

#include "base/buf.h"
#include "core/job_map.h"

void plan_print_table(const struct job_map *p, struct buf *out);
void plan_print_json(const struct job_map *p, struct buf *out);
/* A line for each node: "node4: 8 slots". */
void plan_print_allocation(const struct job_map *p, struct buf *out);
/* A line for each rank: "rank 3 on node4: core 1, hwthreads 2,6". */
void plan_print_bindings(const struct job_map *p, struct buf *out);

#endif
