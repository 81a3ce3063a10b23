/* dvm_request.h - how the launcher of a DVM is asked to run a program on one of its nodes
 * (dvm_exec.h), in one line:
 *
 *     on NODE WORD WORD ...        a character that is not printable, a blank and % are %XX
 *
 * The answer is the line "ok", and from then on the connection is the program's input and output;
 * or it is "error: SENTENCE".
 *
 * Who wants to know how the program ends sends a socket with the first byte of the request.  One
 * line comes on its other end, which may be later than the end of the output, and then it is
 * closed; without a line if that is not known, because the node or the DVM is lost:
 *
 *     exit CODE
 *     signal NUMBER
 *     error SENTENCE               it was not started
 */
#ifndef WIREUP_DAEMON_DVM_REQUEST_H
#define WIREUP_DAEMON_DVM_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* words: the node and the command, NULL-terminated.  The words of the command are joined for a
 * shell there, so an empty one is lost.  The caller looks at buf_ok(). */
void dvm_request_write(char *const *words, struct buf *out);

/* What follows `on `, into an array with room for a word in two bytes of the text.  False: it is
 * damaged, has no command, or there is no memory. */
bool dvm_request_read(struct slice text, struct arena *a, struct slice *words, uint32_t *n_p);

/* The line of its end: status as from waitpid(); why_not empty: it was started. */
void dvm_request_end_write(int status, struct slice why_not, struct buf *out);

/* The line without its newline.  0 and the exit code, 128 and the number of a signal;
 * DVM_REQUEST_NOT_STARTED with the sentence; DVM_REQUEST_BAD: it is no such line. */
enum { DVM_REQUEST_BAD = 1, DVM_REQUEST_NOT_STARTED = 2 };
int dvm_request_end_read(struct slice line, int *code_p, struct errmsg *err);

#endif
