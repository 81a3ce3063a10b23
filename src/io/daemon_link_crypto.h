/* daemon_link_crypto.h - the protocol of a link between two daemons: authentication and encryption.
 *
 * Both ends know the key of the job (32 bytes that no argv and no environment ever shows).  Nobody
 * without it gets past the first message, nobody can read or change the traffic, and bytes recorded
 * from one connection are refused by every other:
 *
 *   caller   -> head | position, fresh public key | MAC(key; all of it)                  "hello"
 *   answerer -> head | position, fresh public key, header | MAC(key; hello, all of it)   "answer"
 *   caller   -> header | MAC(key; hello, answer, header)                                 "proof"
 *
 * Then both send records: one stream for each direction, libsodium's secretstream, whose header is
 * above.  Its key is made of the job's key, the session key that crypto_kx gives for the two fresh
 * keys, and both messages: who learns the secret behind the fresh keys later still cannot read.
 *
 * The head (32 bytes) is the same in all future versions, as is the part of a hello before its MAC:
 * it names the versions that its sender speaks, so that a mismatch can name both.  An answerer that
 * refuses sends the reason in a head, and only to peers whose first bytes are ours.  A version
 * mismatch it reports with a MAC (key; the caller's hello without its MAC, the head): that is
 * advice to the user, and a caller gives none on the word of an unauthenticated peer.
 *
 * A record is 4 bytes of length and the encryption by secretstream of a piece of a message; its tag
 * gives the kind of the piece.  Large messages are sent in pieces, so that a heartbeat never waits
 * for more than one of them.
 *
 * No descriptor and no clock: bytes go in and out, and events are returned.  The randomness of a
 * connection is an argument.
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
    DAEMON_LINK_KEY = 32,  /* bytes of a job's key */
    DAEMON_LINK_SEED = 32, /* fresh random bytes for each connection */
    DAEMON_LINK_HEAD = 32,
    DAEMON_LINK_HELLO = 104,
    DAEMON_LINK_ANSWER = 128,
    DAEMON_LINK_PROOF = 56,
    DAEMON_LINK_CHUNK = 64 << 10, /* of a message in one record */
    DAEMON_LINK_RECORD_EXTRA = 4 + 17,
    DAEMON_LINK_VERSION = 2, /* of the link; the messages have versions of their own */
};

enum daemon_link_role { DAEMON_LINK_CALLS, DAEMON_LINK_ANSWERS };

enum daemon_link_event {
    DAEMON_LINK_MORE,    /* nothing complete yet: read more */
    DAEMON_LINK_UP,      /* the other end is authenticated; position and version are known */
    DAEMON_LINK_MESSAGE, /* one message */
    DAEMON_LINK_ALIVE,   /* a heartbeat */
    DAEMON_LINK_BYE,     /* the other end closes on purpose; nothing follows */
    DAEMON_LINK_FAILED,  /* see `fault` and `err`; the output may still be sent */
};

/* Why it failed: for tests, and to decide what to log. */
enum daemon_link_fault {
    DAEMON_LINK_FINE,
    DAEMON_LINK_UNKNOWN_KEY, /* the bytes received are no hello of ours */
    DAEMON_LINK_OTHER_VERSION,
    DAEMON_LINK_WRONG_KEY, /* of another job, or none */
    DAEMON_LINK_REPLAY,    /* a valid hello without its proof: replayed, or altered in transit */
    DAEMON_LINK_REFUSED,   /* the other end refuses */
    DAEMON_LINK_ALTERED,   /* a record was altered, or is out of order */
    DAEMON_LINK_TOO_LONG,
    DAEMON_LINK_NO_MEMORY,
};

struct daemon_link_keys; /* daemon_link_keys.h */

struct daemon_link_crypto {
    enum daemon_link_role role;
    enum daemon_link_fault fault;
    struct errmsg err; /* a part of a sentence: "it speaks version 9 of the link, we 1" */
    unsigned step;
    bool greeted; /* its hello or answer was valid */
    bool up, sent_bye;
    uint32_t own;                   /* our position */
    uint32_t position;              /* of the other end, once up */
    char version[17];               /* of its program; printable */
    const unsigned char *key;       /* the job's; owned by the caller */
    const unsigned char *other_key; /* an answerer's second one, of daemon_link_crypto_also() */
    bool by_other;                  /* ... the caller has proved that one: it is `key` now */
    struct daemon_link_keys *keys;  /* of this connection (secret.h) */
    unsigned char hello[DAEMON_LINK_HELLO], answer[DAEMON_LINK_ANSWER];
    struct buf in, out;
    size_t in_step;    /* how much is read at once */
    struct buf pieces; /* of an incomplete message */
    size_t used;       /* bytes of `in` that the last return lent */
    bool lent;         /* the last return lent `pieces` */
};

/* key: must outlive it.  position: ours.  out_max: most bytes queued to be sent.  0, -errno. */
int daemon_link_crypto_init(struct daemon_link_crypto *c, enum daemon_link_role role,
                            const unsigned char key[DAEMON_LINK_KEY],
                            const unsigned char seed[DAEMON_LINK_SEED], uint32_t position,
                            size_t out_max);
void daemon_link_crypto_free(struct daemon_link_crypto *c); /* harmless twice */
/* An answerer accepts callers with this key, too, which must outlive it: by_other tells. */
void daemon_link_crypto_also(struct daemon_link_crypto *c,
                             const unsigned char other[DAEMON_LINK_KEY]);
/* Received bytes are wiped before their memory is freed: there are keys among them. */
void daemon_link_crypto_wipes(struct daemon_link_crypto *c);

/* Where to put up to *n_p received bytes, or NULL: no memory.  Then call daemon_link_crypto_came().
 */
char *daemon_link_crypto_room(struct daemon_link_crypto *c, size_t *n_p);
void daemon_link_crypto_came(struct daemon_link_crypto *c, size_t n);

/* The next event; to be called until it returns DAEMON_LINK_MORE or DAEMON_LINK_FAILED.  *message
 * lives until the next call. */
enum daemon_link_event daemon_link_crypto_next(struct daemon_link_crypto *c, struct slice *message);

/* The message that a handshake waits for, and how much of it has come; NULL: it waits for none. */
const char *daemon_link_crypto_awaited(const struct daemon_link_crypto *c, size_t *have_p,
                                       size_t *need_p);

/* The bytes to send; and a note that n of them were sent. */
struct slice daemon_link_crypto_out(const struct daemon_link_crypto *c);
void daemon_link_crypto_sent(struct daemon_link_crypto *c, size_t n);

/* One message, in parts that are joined. 0, -EPIPE: not up, or closed; -EMSGSIZE; -ENOBUFS: too
 * much is queued already; -ENOMEM.  All or nothing. */
int daemon_link_crypto_send(struct daemon_link_crypto *c, const struct slice *parts, size_t nparts);
int daemon_link_crypto_alive(struct daemon_link_crypto *c);
int daemon_link_crypto_bye(struct daemon_link_crypto *c); /* nothing can be sent after it */

#endif
