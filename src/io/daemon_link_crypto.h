/* daemon_link_crypto.h - the link between two daemons, as bytes: who may speak, and what is said.
 *
 * Both ends know the key of the job (32 bytes that no argv and no environment ever shows).  Nobody
 * without it gets past the first message, nobody can read or change what is said, and what was
 * recorded from one connection is refused by every other:
 *
 *   caller   -> head | position, fresh public key | MAC(key; all of it)                  "hello"
 *   answerer -> head | position, fresh public key | MAC(key; hello, all of it)           "answer"
 *   caller   -> MAC(key; hello, answer)                                                  "proof"
 *   then both: records, sealed by ChaCha20-Poly1305 under keys derived from the job's key, the
 * secret that the fresh keys give and both messages; one key for each direction, numbered records.
 *
 * The head (32 bytes) is the same in all versions to come: it names the versions that its sender
 * speaks, so that a mismatch can name both; so is what a hello has before its MAC.  An answerer
 * that refuses says why in a head, and only to those whose first bytes are ours.  Of versions it
 * says so with a MAC (key; the caller's hello without its MAC, the head): that is advice, and a
 * caller gives none at the word of who has not proved itself.
 *
 * A record is 4 bytes of length and the sealed bytes: a kind and a piece of a message.  Large
 * messages travel in pieces, so that a sign of life is never behind more than one of them.
 *
 * No descriptor and no clock: bytes are given and taken, and what has happened is returned.  The
 * randomness of a connection is an argument.
 */
#ifndef WIREUP_IO_DAEMON_LINK_CRYPTO_H
#define WIREUP_IO_DAEMON_LINK_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

enum {
    HOP_KEY = 32,  /* bytes of a job's key */
    HOP_SEED = 32, /* fresh random bytes for each connection */
    HOP_HEAD = 32,
    HOP_HELLO = 104,
    HOP_PROOF = 32,
    HOP_CHUNK = 64 << 10, /* of a message in one record */
    HOP_RECORD_EXTRA = 4 + 1 + 16,
    HOP_VERSION = 1, /* of the link; what is said over it has versions of its own */
};

enum hop_role { HOP_CALLS, HOP_ANSWERS };

enum hop_event {
    HOP_MORE,    /* nothing complete yet: read more */
    HOP_UP,      /* the other end has proved itself; position and version are known */
    HOP_MESSAGE, /* one message */
    HOP_ALIVE,   /* a sign of life */
    HOP_BYE,     /* the other end closes on purpose; nothing follows */
    HOP_FAILED,  /* see `fault` and `err`; what is in the output may still be sent */
};

/* Why it failed: for tests, and for who decides what to log. */
enum hop_fault {
    HOP_FINE,
    HOP_STRANGER, /* what came is no hello of ours */
    HOP_OTHER_VERSION,
    HOP_WRONG_KEY, /* of another job, or none */
    HOP_REPLAY,    /* a hello of ours, and no proof to it: a recording, or altered on its way */
    HOP_REFUSED,   /* the other end says no */
    HOP_ALTERED,   /* a record is not what was sent, or out of order */
    HOP_TOO_LONG,
    HOP_NO_MEMORY,
};

struct hop_keys {
    unsigned char secret[32]; /* until the keys are known */
    unsigned char seal[32], open[32];
};

struct daemon_link_crypto {
    enum hop_role role;
    enum hop_fault fault;
    struct errmsg err; /* a part of a sentence: "it speaks version 9 of the link, we 1" */
    unsigned step;
    bool greeted; /* its hello or answer was good */
    bool up, said_bye;
    uint32_t own;             /* our position */
    uint32_t position;        /* of the other end, once up */
    char version[17];         /* of its program; printable */
    const unsigned char *key; /* the job's; the caller's */
    struct hop_keys *keys;    /* of this connection (secret.h) */
    unsigned char hello[HOP_HELLO], answer[HOP_HELLO];
    uint64_t sealed, opened; /* records */
    struct buf in, out;
    size_t in_step;    /* how much is read at once */
    struct buf pieces; /* of a message that has not ended */
    size_t used;       /* of `in`, by what was returned last */
    bool lent;         /* `pieces` is what was returned last */
};

/* key: outlives it.  position: ours.  out_max: bytes that may wait to be sent.  0, -errno. */
int daemon_link_crypto_init(struct daemon_link_crypto *c, enum hop_role role,
                            const unsigned char key[HOP_KEY], const unsigned char seed[HOP_SEED],
                            uint32_t position, size_t out_max);
void daemon_link_crypto_free(struct daemon_link_crypto *c); /* harmless twice */

/* Where to put up to *n_p bytes that came, or NULL: no memory.  Then daemon_link_crypto_came(). */
char *daemon_link_crypto_room(struct daemon_link_crypto *c, size_t *n_p);
void daemon_link_crypto_came(struct daemon_link_crypto *c, size_t n);

/* What has happened next; to be called until it says HOP_MORE or HOP_FAILED.  *message lives until
 * the next call. */
enum hop_event daemon_link_crypto_next(struct daemon_link_crypto *c, struct slice *message);

/* What is to be sent, and that n bytes of it were. */
struct slice daemon_link_crypto_out(const struct daemon_link_crypto *c);
void daemon_link_crypto_sent(struct daemon_link_crypto *c, size_t n);

/* One message, in parts that are joined.  0, -EPIPE: not up, or closed; -EMSGSIZE; -ENOBUFS: too
 * much waits already; -ENOMEM.  All or nothing. */
int daemon_link_crypto_send(struct daemon_link_crypto *c, const struct slice *parts, size_t nparts);
int daemon_link_crypto_alive(struct daemon_link_crypto *c);
int daemon_link_crypto_bye(struct daemon_link_crypto *c); /* nothing can be sent behind it */

#endif
