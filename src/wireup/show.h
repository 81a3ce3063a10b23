/* show.h - a plan for people (--dry-run, --report-bindings) and for programs (--json). */
#ifndef WIREUP_WIREUP_SHOW_H
#define WIREUP_WIREUP_SHOW_H

#include "base/buf.h"
#include "core/plan.h"

void show_table(const struct plan *p, struct buf *out);
void show_json(const struct plan *p, struct buf *out);
/* A line for each rank: "rank 3 on node4: core 1, hwthreads 2,6". */
void show_bindings(const struct plan *p, struct buf *out);

#endif
