/* findings.h - what is wrong with a job that hangs, as far as the report on pending operations
 * shows it: one sentence for each cause, the gravest first.
 *
 * Looked for are nodes that do not answer, processes that are stopped, that have ended without
 * finalize while others go on, or that use different MPI libraries; and, where stacks were taken,
 * the few processes that are elsewhere than the others.
 */
#ifndef WIREUP_REPORT_FINDINGS_H
#define WIREUP_REPORT_FINDINGS_H

#include "core/job.h"
#include "report/stack_tree.h"
#include "report/who.h"

struct finding {
    const char *kind;   /* "unreachable", "stopped", "debugged", "ended", "libraries", "stacks" */
    struct slice ranks; /* "0-2,5"; empty: of none */
    struct slice text;  /* a sentence */
};

typedef void finding_fn(void *arg, const struct finding *f);

/* Returns their number.  tree: sorted; empty: no stacks were taken. */
uint32_t findings_each(const struct job *j, const struct who_options *o,
                       const struct stack_tree *tree, finding_fn *fn, void *arg);

/* "running", "stopped" ...; NULL: it is not known. */
const char *findings_state_word(char letter);

/* ", CPU 1.9 s in 2.0 s"; nothing if it is not known. */
void findings_cpu(const struct proc_look *look, struct buf *out);

#endif
