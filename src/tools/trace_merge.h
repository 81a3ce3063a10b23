/* trace_merge.h - prints the traces of a job as one, in the order of time by the launcher's clock,
 * to standard output; and follows them while the job runs.
 */
#ifndef WIREUP_TOOLS_TRACE_MERGE_H
#define WIREUP_TOOLS_TRACE_MERGE_H

#include "tools/trace_lines.h"

/* follow: until the launcher's trace has its last record.  An exit code, after messages. */
int trace_merge(const struct log *log, const char *path, struct trace_filter *f, bool follow);

#endif
