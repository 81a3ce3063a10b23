/* output.h - what a node shows: our own standard output and error, and the files of ranks' output.
 *
 * Every sink is opened once, here; who has lines for a file asks for its sink by the file's name.
 */
#ifndef WIREUP_WIREUPD_OUTPUT_H
#define WIREUP_WIREUPD_OUTPUT_H

#include "wireupd/node_priv.h"

void output_open(struct node *n, loop_fn *on_idle); /* on_idle(n): all is written for now */
void output_close(struct node *n);                  /* harmless twice */
void output_drop(struct node *n); /* nothing more is written, wherever it would go */

/* Makes the files that take the output of the job's processes here (the patterns of the config),
 * before any of them is started.  0; OUTPUT_BAD with a sentence: one of them cannot be made. */
enum { OUTPUT_BAD = 1 };
int output_prepare(struct node *n, const struct job *job, struct errmsg *err);

/* Where one process writes: its file, or `standard` where there is no pattern. */
struct sink *output_of(struct node *n, const char *pattern, const struct job *job, uint32_t rank,
                       struct sink *standard);

/* Says what could not be written: output that was lost is no success. */
void output_tell_lost(struct node *n);

#endif
