/* join_token.h - the secret by which a node that nobody has started joins a launcher: a text that
 * the user puts into a file, or into WIREUP_JOIN_TOKEN, on both sides.
 *
 * Both ends prove that they have it as daemons prove that they have the job's key
 * (daemon_link_crypto.h), with the key that follows from it.  Whoever records a handshake can try
 * texts against it, so the text must be random; join_token_make() makes one of 256 bits.
 */
#ifndef WIREUP_IO_JOIN_TOKEN_H
#define WIREUP_IO_JOIN_TOKEN_H

#include "base/err.h"

#define JOIN_TOKEN_VARIABLE "WIREUP_JOIN_TOKEN"

/* A text that begins so has the key itself: for nodes of a launcher that has kept no more of the
 * token than its key. */
#define JOIN_TOKEN_OF_KEY "wireup-key-"

enum { JOIN_TOKEN_KEY = 32, JOIN_TOKEN_TEXT = 64, JOIN_TOKEN_LEAST = 16, JOIN_TOKEN_MOST = 1024 };

/* The key of the token in the file; file NULL: in the environment, from which it is removed, so
 * that no program inherits it.  The file must be the user's, or root's, and closed to others.  0,
 * or -errno with a sentence.  -ENOENT: there is no such file, or nothing in it; or no variable. */
int join_token_read(const char *file, unsigned char key[JOIN_TOKEN_KEY], struct errmsg *err);

/* Makes the file, with a new token, if there is none.  0, or -errno with a sentence. */
int join_token_make(const char *file, struct errmsg *err);

/* The text that has this key; it is as secret as the key. */
void join_token_of_key(const unsigned char key[JOIN_TOKEN_KEY], char text_p[JOIN_TOKEN_TEXT]);

#endif
