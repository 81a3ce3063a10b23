/* output.h - a node's output: our own standard output and error, and the files of ranks' output.
 *
 * Every sink is opened once, here; other modules get the sink of a file by its name.
 */
#ifndef WIREUP_DAEMON_OUTPUT_H
#define WIREUP_DAEMON_OUTPUT_H

#include "daemon/node_priv.h"

void output_open(struct node *n, loop_fn *on_idle); /* on_idle(n): all is written for now */
void output_close(struct node *n);                  /* harmless twice */
void output_drop(struct node *n);                   /* nothing more is written, to any sink */

/* Creates the output files of the job's processes here (the patterns of the config), before any of
 * them is started.  0; OUTPUT_BAD with a sentence: one of them cannot be created. */
enum { OUTPUT_BAD = 1 };
int output_prepare(struct node *n, const struct job *job, struct errmsg *err);

/* The sink of one process: its file, or `standard` if there is no pattern. */
struct sink *output_of(struct node *n, const char *pattern, const struct job *job, uint32_t rank,
                       struct sink *standard);

/* Reports what could not be written: lost output is an error. */
void output_tell_lost(struct node *n);

#endif
