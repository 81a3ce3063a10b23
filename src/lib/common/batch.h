/* batch.h - puts that wait for the next commit.
 *
 * A process's own puts, kept until the server has acknowledged them: until then they answer this
 * process's own look-ups, and tell a second put of the same key.  What is not yet sent goes out as
 * one block of records: key length (2 bytes, little-endian), value length (4), key, value.
 */
#ifndef WIREUP_LIB_COMMON_BATCH_H
#define WIREUP_LIB_COMMON_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/slice.h"

enum { BATCH_DUPLICATE = 1, BATCH_TOO_LONG };

struct batch_put;

struct batch {
    struct arena arena;
    struct map keys;          /* all puts, by key */
    struct batch_put *unsent; /* oldest first */
    struct batch_put **tail;  /* where the next one is linked; NULL: at unsent */
    uint32_t count;           /* of unsent */
    uint32_t bytes;           /* of their records */
};

void batch_init(struct batch *b);
void batch_free(struct batch *b); /* harmless twice */

/* 0; BATCH_DUPLICATE; BATCH_TOO_LONG: key over 65535 bytes, value over LIMIT_STORE_VALUE, or more
 * than LIMIT_CLIENT_STORE waiting; -ENOMEM. */
int batch_add(struct batch *b, struct slice key, struct slice value);

/* The same for a put that the server has taken already (and not yet shown to all); a second one
 * replaces.  0, BATCH_TOO_LONG or -ENOMEM: then it is not remembered. */
int batch_note(struct batch *b, struct slice key, struct slice value);

/* What this process has put under key and the server has not acknowledged. */
bool batch_get(const struct batch *b, struct slice key, struct slice *value_p);

/* Appends the records of the unsent puts (`bytes` of them); nothing changes. */
void batch_encode(const struct batch *b, struct buf *out);

/* All were sent; all that was sent was acknowledged (the puts are forgotten, unless some are
 * still to be sent). */
void batch_sent(struct batch *b);
void batch_acknowledged(struct batch *b);

#endif
