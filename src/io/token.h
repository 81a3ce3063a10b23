/* token.h - credentials of our own: who a process is, signed with a key of its job's daemons.
 *
 * A token is text, "wireup:" and base64 of: a version, the user, the group, the rank, the time at
 * which it expires, the namespace, and a keyed hash (BLAKE2b) of all that.  Whoever has the key can
 * check it, on any node, without asking who made it.
 */
#ifndef WIREUP_IO_TOKEN_H
#define WIREUP_IO_TOKEN_H

#include <stdint.h>

#include "base/buf.h"

enum { TOKEN_KEY = 32, TOKEN_NSPACE = 255 };

struct token {
    uint32_t uid, gid, rank;
    uint64_t expires_s; /* since 1970 */
    char nspace[TOKEN_NSPACE + 1];
};

enum { TOKEN_FORGED = 1, TOKEN_EXPIRED = 2, TOKEN_OTHER_JOB = 3 };

/* The key of tokens that follows from another key, of TOKEN_KEY bytes, which it does not reveal. */
void token_key(const unsigned char *master, unsigned char *key_p);

/* Appends the text; running out of memory poisons the buffer. */
void token_write(const unsigned char *key, const struct token *t, struct buf *out);

/* The text is one of ours, be it good or not. */
bool token_is_one(struct slice text);

/* 0; TOKEN_FORGED: it was not made with this key, or is no token at all; TOKEN_EXPIRED;
 * TOKEN_OTHER_JOB: it is not of this namespace.  *t_p is only filled in when it is good. */
int token_read(const unsigned char *key, const char *nspace, uint64_t now_s, struct slice text,
               struct token *t_p);

#endif
