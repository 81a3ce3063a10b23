/* golden.h - recordings of real clients and a real process manager (tests/golden) as scripts.
 *
 * The client's side is played to our server; of the other server's replies is expected of ours what
 * the clients need (a table of fields per message), not their wording: a mapping means the same
 * when it places the same ranks on the same nodes, a refusal is a refusal whatever its number.
 */
#ifndef WIREUP_TESTS_CONVERSATION_GOLDEN_H
#define WIREUP_TESTS_CONVERSATION_GOLDEN_H

#include "tests/conversation/script.h"

/* 0; or -1 with the line and the reason in err. */
int golden_load(struct script *s, const char *path, struct errmsg *err);

/* One line: what a client said becomes a step.  0; 1: it is no line of a recording. */
int golden_line(struct script *s, struct slice line);

/* Every message of the recording, of both sides, is read and written again by the table: the same
 * tuples, byte for byte, in whatever order.  The number of messages goes to *count_p. */
int golden_codec(const char *path, unsigned *count_p, struct errmsg *err);

#endif
