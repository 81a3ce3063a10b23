/* batch.h - puts that wait for the next commit.
 *
 * Holds a process's own puts until the server has acknowledged them; until then they answer this
 * process's own look-ups and reveal a second put of the same key.  Unsent puts go out as one block
 * of records: key length (2 bytes, little-endian), value length (4), key, value.
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
void batch_free(struct batch *b); /* idempotent */

/* 0; BATCH_DUPLICATE; BATCH_TOO_LONG: key over 65535 bytes, value over LIMIT_STORE_VALUE, or more
 * than LIMIT_CLIENT_STORE waiting; -ENOMEM. */
int batch_add(struct batch *b, struct slice key, struct slice value);

/* The same for a put that the server already has (but has not yet made visible); a second one
 * replaces the first.  0, BATCH_TOO_LONG or -ENOMEM: then it is not kept. */
int batch_note(struct batch *b, struct slice key, struct slice value);

/* This process's own put of key, if the server has not acknowledged it. */
bool batch_get(const struct batch *b, struct slice key, struct slice *value_p);

/* Appends the records of the unsent puts (`bytes` of them); the batch does not change. */
void batch_encode(const struct batch *b, struct buf *out);

/* batch_sent: all puts were sent.  batch_acknowledged: all sent puts were acknowledged; they are
 * dropped unless some are still unsent. */
void batch_sent(struct batch *b);
void batch_acknowledged(struct batch *b);

#endif
