/* dvm_request.h - how the launcher of a DVM is asked to run a program on one of its nodes
 * (dvm_exec.h), in one line:
 *
 *     on NODE WORD WORD ...        a character that is not printable, a blank and % are %XX
 *
 * The answer is the line "ok", and from then on the connection is the program's input and output;
 * or it is "error: SENTENCE".
 */
#ifndef WIREUP_DAEMON_DVM_REQUEST_H
#define WIREUP_DAEMON_DVM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

/* words: the node and the command, NULL-terminated.  The words of the command are joined for a
 * shell there, so an empty one is lost.  The caller looks at buf_ok(). */
void dvm_request_write(char *const *words, struct buf *out);

/* What follows `on `, into an array with room for a word in two bytes of the text.  False: it is
 * damaged, has no command, or there is no memory. */
bool dvm_request_read(struct slice text, struct arena *a, struct slice *words, uint32_t *n_p);

#endif
