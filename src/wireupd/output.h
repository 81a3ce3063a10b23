/* output.h - what a node shows: our own standard output and error, and the files of ranks' output.
 *
 * Every sink is opened once, here; who has lines for a file asks for its sink by the file's name.
 */
#ifndef WIREUP_WIREUPD_OUTPUT_H
#define WIREUP_WIREUPD_OUTPUT_H

#include "wireupd/node_priv.h"

void output_open(struct node *n, loop_fn *on_idle); /* on_idle(n): all is written for now */
void output_close(struct node *n);                  /* harmless twice */

/* The sink of a file name, opened once per name; NULL with a sentence. */
struct sink *output_file(struct node *n, const char *name, struct errmsg *err);

/* Says what could not be written: output that was lost is no success. */
void output_tell_lost(struct node *n);

#endif
