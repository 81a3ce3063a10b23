/* daemon_link_crypto.c - see daemon_link_crypto.h. */
#include "io/daemon_link_crypto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "io/daemon_link_keys.h"
#include "io/secret.h"

enum kind { KIND_HELLO = 1, KIND_ANSWER, KIND_REFUSAL };
/* A heartbeat is a piece without bytes: messages have no empty pieces but the last. */
enum sealed_record {
    RECORD_PIECE = crypto_secretstream_xchacha20poly1305_TAG_MESSAGE,
    RECORD_LAST = crypto_secretstream_xchacha20poly1305_TAG_PUSH,
    RECORD_BYE = crypto_secretstream_xchacha20poly1305_TAG_FINAL,
};
enum step { STEP_HEAD, STEP_BODY, STEP_PROOF, STEP_RECORDS, STEP_OVER };
enum {
    SEAL = crypto_secretstream_xchacha20poly1305_ABYTES,
    STREAM_KEY = crypto_secretstream_xchacha20poly1305_KEYBYTES,
    STREAM_HEADER = crypto_secretstream_xchacha20poly1305_HEADERBYTES,
    RECORD_MAX = DAEMON_LINK_CHUNK + SEAL,
    MAC = 32,
    PUBLIC_AT = DAEMON_LINK_HEAD + 8,   /* the fresh key, in a hello and an answer */
    UNSIGNED = DAEMON_LINK_HELLO - MAC, /* the part that the MAC covers; an answer begins alike */
    ANSWER_UNSIGNED = DAEMON_LINK_ANSWER - MAC,
    IN_FIRST = 8 << 10, /* read at once while there is little traffic: a few pages of the heap */
    IN_STEP = 64 << 10, /* ... and when there is more */
    KEEP = 256 << 10,   /* a buffer larger than this is freed when it is empty */
};

_Static_assert(PUBLIC_AT + crypto_kx_PUBLICKEYBYTES == UNSIGNED, "the fresh key is before the MAC");
_Static_assert(UNSIGNED + STREAM_HEADER == ANSWER_UNSIGNED, "the header is before the MAC");
_Static_assert(STREAM_HEADER + MAC == DAEMON_LINK_PROOF, "a header and a MAC");
_Static_assert((int)DAEMON_LINK_RECORD_EXTRA == 4 + SEAL,
               "the length and the bytes that secretstream adds");
_Static_assert((int)DAEMON_LINK_SEED == crypto_kx_SEEDBYTES, "fresh keys are made of the seed");

static const unsigned char magic[8] = { 0x89, 'W', 'I', 'R', 'E', 'U', 'P', '\n' };

/* ---- numbers ---- */

static void put16(unsigned char *p, unsigned v)
{
    p[0] = (unsigned char)(v >> 8);
    p[1] = (unsigned char)v;
}

static unsigned get16(const unsigned char *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static void put32(unsigned char *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v & 0xffff);
}

static uint32_t get32(const unsigned char *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* ---- secrets ---- */

/* MAC or derived bytes: keyed by the job's key, distinguished by the label. */
static void digest(const struct daemon_link_crypto *c, const char label[8], unsigned char *to,
                   size_t n, const void *one, size_t n1, const void *two, size_t n2,
                   const void *three, size_t n3)
{
    crypto_generichash_state s;

    crypto_generichash_init(&s, c->key, DAEMON_LINK_KEY, n);
    crypto_generichash_update(&s, (const unsigned char *)label, 8);
    crypto_generichash_update(&s, one, n1);
    if (n2)
        crypto_generichash_update(&s, two, n2);
    if (n3)
        crypto_generichash_update(&s, three, n3);
    crypto_generichash_final(&s, to, n);
    sodium_memzero(&s, sizeof s);
}

static void sign_hello(const struct daemon_link_crypto *c, const unsigned char *hello,
                       unsigned char *to)
{
    digest(c, "hello  2", to, MAC, hello, UNSIGNED, NULL, 0, NULL, 0);
}

static void sign_answer(const struct daemon_link_crypto *c, unsigned char *to)
{
    digest(c, "answer 2", to, MAC, c->hello, DAEMON_LINK_HELLO, c->answer, ANSWER_UNSIGNED, NULL,
           0);
}

static void sign_proof(const struct daemon_link_crypto *c, const unsigned char *header,
                       unsigned char *to)
{
    digest(c, "proof  2", to, MAC, c->hello, DAEMON_LINK_HELLO, c->answer, DAEMON_LINK_ANSWER,
           header, STREAM_HEADER);
}

/* The MAC of a refusal, the same in all versions: over the first part of the hello that it answers,
 * whose fresh key is unique. */
static void sign_refusal(const struct daemon_link_crypto *c, const unsigned char *hello,
                         const unsigned char *head, unsigned char *to)
{
    digest(c, "refusal1", to, MAC, hello, UNSIGNED, head, DAEMON_LINK_HEAD, NULL, 0);
}

/* crypto_kx alone does not depend on the job's key, so its session keys are not yet those of the
 * streams.  Of the answer only the part before its header counts, which needs a key already. */
static void stream_keys(const struct daemon_link_crypto *c, const unsigned char *session,
                        unsigned char *to)
{
    digest(c, "keys   2", to, 2 * STREAM_KEY, session, 2 * crypto_kx_SESSIONKEYBYTES, c->hello,
           DAEMON_LINK_HELLO, c->answer, UNSIGNED);
}

/* Opens the stream of our messages, and keeps the key for the other one.  False: the other end's
 * public key is one of the few weak ones, which give no secret. */
static bool derive_keys(struct daemon_link_crypto *c, unsigned char *header)
{
    struct daemon_link_keys *k = c->keys;
    const unsigned char *caller = c->hello + PUBLIC_AT, *answerer = c->answer + PUBLIC_AT;
    /* of the caller's messages, then of the answerer's */
    unsigned char session[2][crypto_kx_SESSIONKEYBYTES], keys[2][STREAM_KEY];
    unsigned own = c->role == DAEMON_LINK_CALLS ? 0 : 1;
    int rc;

    if (c->role == DAEMON_LINK_CALLS)
        rc = crypto_kx_client_session_keys(session[1], session[0], caller, k->secret, answerer);
    else
        rc = crypto_kx_server_session_keys(session[0], session[1], answerer, k->secret, caller);
    if (rc == 0) {
        stream_keys(c, session[0], keys[0]);
        crypto_secretstream_xchacha20poly1305_init_push(&k->seal, header, keys[own]);
        memcpy(k->open_key, keys[1 - own], STREAM_KEY);
    }
    sodium_memzero(session, sizeof session);
    sodium_memzero(keys, sizeof keys);
    sodium_memzero(k->secret, sizeof k->secret);
    return rc == 0;
}

/* header: of the other end's stream. */
static void open_stream(struct daemon_link_crypto *c, const unsigned char *header)
{
    crypto_secretstream_xchacha20poly1305_init_pull(&c->keys->open, header, c->keys->open_key);
    sodium_memzero(c->keys->open_key, sizeof c->keys->open_key);
}

/* ---- handshake messages, written ---- */

static void fill_head(unsigned char *to, enum kind kind, enum daemon_link_fault why)
{
    memset(to, 0, DAEMON_LINK_HEAD);
    memcpy(to, magic, sizeof magic);
    put16(to + 8, DAEMON_LINK_VERSION);
    put16(to + 10, DAEMON_LINK_VERSION);
    to[12] = (unsigned char)kind;
    to[13] = (unsigned char)why;
    snprintf((char *)to + 16, 16, "%s", WIREUP_VERSION);
}

/* The part before the MAC, or before the header of an answer. */
static void fill_hello(struct daemon_link_crypto *c, unsigned char *to, enum kind kind)
{
    memset(to, 0, UNSIGNED);
    fill_head(to, kind, DAEMON_LINK_FINE);
    put32(to + DAEMON_LINK_HEAD, c->own);
    crypto_kx_seed_keypair(to + PUBLIC_AT, c->keys->secret, c->keys->seed);
    sodium_memzero(c->keys->seed, sizeof c->keys->seed);
}

int daemon_link_crypto_init(struct daemon_link_crypto *c, enum daemon_link_role role,
                            const unsigned char key[DAEMON_LINK_KEY],
                            const unsigned char seed[DAEMON_LINK_SEED], uint32_t position,
                            size_t out_max)
{
    memset(c, 0, sizeof *c);
    c->role = role;
    c->in_step = IN_FIRST;
    c->key = key;
    c->keys = secret_new(sizeof *c->keys);
    if (!c->keys)
        return -ENOMEM;
    memcpy(c->keys->seed, seed, DAEMON_LINK_SEED);
    buf_init(&c->in, RECORD_MAX + 4 + IN_FIRST + IN_STEP);
    buf_init(&c->out, out_max);
    buf_init(&c->pieces, LIMIT_DAEMON_LINK_MESSAGE);
    c->own = position;
    if (role == DAEMON_LINK_ANSWERS)
        return 0; /* deriving keys costs time: only for peers that know the job's key */
    fill_hello(c, c->hello, KIND_HELLO);
    sign_hello(c, c->hello, c->hello + UNSIGNED);
    buf_put(&c->out, c->hello, DAEMON_LINK_HELLO);
    return buf_ok(&c->out) ? 0 : -ENOMEM;
}

void daemon_link_crypto_free(struct daemon_link_crypto *c)
{
    buf_free(&c->in);
    buf_free(&c->out);
    buf_free(&c->pieces);
    c->keys = secret_free(c->keys, sizeof *c->keys);
}

void daemon_link_crypto_also(struct daemon_link_crypto *c,
                             const unsigned char other[DAEMON_LINK_KEY])
{
    c->other_key = other;
}

void daemon_link_crypto_wipes(struct daemon_link_crypto *c)
{
    c->in.secret = c->pieces.secret = true;
}

/* ---- bytes ---- */

static void drop_used(struct daemon_link_crypto *c)
{
    buf_take(&c->in, c->used);
    c->used = 0;
}

char *daemon_link_crypto_room(struct daemon_link_crypto *c, size_t *n_p)
{
    drop_used(c);
    *n_p = c->in_step;
    return buf_room(&c->in, c->in_step);
}

void daemon_link_crypto_came(struct daemon_link_crypto *c, size_t n)
{
    c->in_step = n == c->in_step ? IN_STEP : IN_FIRST;
    buf_commit(&c->in, n);
}

struct slice daemon_link_crypto_out(const struct daemon_link_crypto *c)
{
    return buf_slice(&c->out);
}

void daemon_link_crypto_sent(struct daemon_link_crypto *c, size_t n)
{
    buf_take(&c->out, n);
    if (buf_len(&c->out) == 0 && c->out.cap > KEEP)
        buf_free(&c->out);
}

static enum daemon_link_event fail(struct daemon_link_crypto *c, enum daemon_link_fault fault)
{
    c->fault = fault;
    c->step = STEP_OVER;
    return DAEMON_LINK_FAILED;
}

/* An answerer's refusal, sent only to peers that speak this protocol.  The versions in it are
 * advice, so it has a MAC; a peer with another key could not check it. */
static enum daemon_link_event refuse(struct daemon_link_crypto *c, enum daemon_link_fault fault)
{
    unsigned char head[DAEMON_LINK_HEAD], mac[32];

    if (c->role == DAEMON_LINK_ANSWERS) {
        fill_head(head, KIND_REFUSAL, fault);
        buf_put(&c->out, head, DAEMON_LINK_HEAD);
        if (fault == DAEMON_LINK_OTHER_VERSION) {
            sign_refusal(c, (const unsigned char *)buf_slice(&c->in).ptr, head, mac);
            buf_put(&c->out, mac, sizeof mac);
        }
    }
    return fail(c, fault);
}

/* ---- handshake messages, read ---- */

static const unsigned char *bytes_in(const struct daemon_link_crypto *c)
{
    return (const unsigned char *)buf_slice(&c->in).ptr;
}

/* Bytes of an unauthenticated peer must not reach a terminal unfiltered. */
static void keep_version(struct daemon_link_crypto *c, const unsigned char *text)
{
    size_t n = 0;

    for (; n < 16 && text[n] > ' ' && text[n] < 127; n++)
        c->version[n] = (char)text[n];
    c->version[n] = '\0';
}

/* Anybody can listen at an address that we connect to, and refuse: the refusal is reported as the
 * peer's claim, and only one with a MAC by the job's key becomes advice. */
static enum daemon_link_event unproved(struct daemon_link_crypto *c, const char *word)
{
    errmsg_set(&c->err, 0, "it has not proved that it belongs to this job%s%s%s",
               word ? " (its answer: " : "", word ? word : "", word ? ")" : "");
    return fail(c, DAEMON_LINK_REFUSED);
}

static enum daemon_link_event read_refusal(struct daemon_link_crypto *c)
{
    const unsigned char *head = bytes_in(c);
    unsigned char mac[32];

    if (head[13] == DAEMON_LINK_WRONG_KEY)
        return unproved(c, "another job");
    if (head[13] != DAEMON_LINK_OTHER_VERSION)
        return unproved(c, NULL);
    if (buf_len(&c->in) < DAEMON_LINK_HEAD + sizeof mac)
        return DAEMON_LINK_MORE;
    sign_refusal(c, c->hello, head, mac);
    if (sodium_memcmp(mac, head + DAEMON_LINK_HEAD, sizeof mac) != 0)
        return unproved(c, "another version");
    errmsg_set(&c->err, 0,
               "it is Wireup %s with version %u of the link, and this is Wireup %s with version "
               "%u; install the same Wireup on all nodes",
               c->version, get16(head + 8), WIREUP_VERSION, DAEMON_LINK_VERSION);
    return fail(c, DAEMON_LINK_REFUSED);
}

/* A hello or answer that we cannot read to its end. */
static enum daemon_link_event other_version(struct daemon_link_crypto *c, unsigned newest,
                                            unsigned oldest)
{
    if (c->role == DAEMON_LINK_CALLS)
        return unproved(c, "another version");
    if (buf_len(&c->in) < UNSIGNED)
        return DAEMON_LINK_MORE; /* until the part that the refusal answers is there */
    errmsg_set(&c->err, 0,
               "it claims to be Wireup %s with versions %u to %u of the link; this is Wireup %s "
               "with version %u",
               c->version, oldest, newest, WIREUP_VERSION, DAEMON_LINK_VERSION);
    return refuse(c, DAEMON_LINK_OTHER_VERSION);
}

static enum daemon_link_event read_head(struct daemon_link_crypto *c)
{
    const unsigned char *head = bytes_in(c);
    size_t have = buf_len(&c->in), check = have < sizeof magic ? have : sizeof magic;
    unsigned newest, oldest, kind;

    if (check && memcmp(head, magic, check) != 0) {
        errmsg_set(&c->err, 0, "its first message is not a handshake of Wireup");
        return fail(c, DAEMON_LINK_UNKNOWN_KEY);
    }
    if (have < DAEMON_LINK_HEAD)
        return DAEMON_LINK_MORE;
    newest = get16(head + 8);
    oldest = get16(head + 10);
    kind = head[12];
    keep_version(c, head + 16);
    if (c->role == DAEMON_LINK_CALLS && kind == KIND_REFUSAL)
        return read_refusal(c);
    if (oldest > DAEMON_LINK_VERSION || newest < DAEMON_LINK_VERSION)
        return other_version(c, newest, oldest);
    if (kind != (c->role == DAEMON_LINK_CALLS ? KIND_ANSWER : KIND_HELLO)) {
        errmsg_set(&c->err, 0, "it sent a handshake message at the wrong time");
        return fail(c, DAEMON_LINK_UNKNOWN_KEY);
    }
    c->step = STEP_BODY;
    return DAEMON_LINK_ALIVE; /* go on */
}

static enum daemon_link_event no_memory(struct daemon_link_crypto *c)
{
    errmsg_set(&c->err, 0, "out of memory");
    return fail(c, DAEMON_LINK_NO_MEMORY);
}

static enum daemon_link_event wrong_key(struct daemon_link_crypto *c)
{
    errmsg_set(&c->err, 0, "it has another key: it belongs to another job, or is not a daemon");
    return refuse(c, DAEMON_LINK_WRONG_KEY);
}

static bool is_signed(const struct daemon_link_crypto *c)
{
    unsigned char mac[MAC];

    sign_hello(c, c->hello, mac);
    return sodium_memcmp(mac, c->hello + UNSIGNED, MAC) == 0;
}

static bool is_signed_by_other(struct daemon_link_crypto *c)
{
    if (!c->other_key)
        return false;
    c->key = c->other_key;
    c->by_other = true;
    return is_signed(c);
}

static enum daemon_link_event read_hello(struct daemon_link_crypto *c)
{
    if (buf_len(&c->in) < DAEMON_LINK_HELLO)
        return DAEMON_LINK_MORE;
    memcpy(c->hello, bytes_in(c), DAEMON_LINK_HELLO);
    if (!is_signed(c) && !is_signed_by_other(c))
        return wrong_key(c);
    c->greeted = true;
    fill_hello(c, c->answer, KIND_ANSWER);
    if (!derive_keys(c, c->answer + UNSIGNED))
        return wrong_key(c);
    sign_answer(c, c->answer + ANSWER_UNSIGNED);
    buf_put(&c->out, c->answer, DAEMON_LINK_ANSWER);
    if (!buf_ok(&c->out))
        return no_memory(c);
    buf_take(&c->in, DAEMON_LINK_HELLO);
    c->step = STEP_PROOF;
    return DAEMON_LINK_ALIVE;
}

static enum daemon_link_event come_up(struct daemon_link_crypto *c, const unsigned char *theirs)
{
    c->position = get32(theirs + DAEMON_LINK_HEAD);
    c->up = true;
    c->step = STEP_RECORDS;
    return DAEMON_LINK_UP;
}

static enum daemon_link_event read_answer(struct daemon_link_crypto *c)
{
    unsigned char mac[MAC], proof[DAEMON_LINK_PROOF];

    if (buf_len(&c->in) < DAEMON_LINK_ANSWER)
        return DAEMON_LINK_MORE;
    memcpy(c->answer, bytes_in(c), DAEMON_LINK_ANSWER);
    sign_answer(c, mac);
    if (sodium_memcmp(mac, c->answer + ANSWER_UNSIGNED, MAC) != 0)
        return wrong_key(c);
    c->greeted = true;
    if (!derive_keys(c, proof))
        return wrong_key(c);
    open_stream(c, c->answer + UNSIGNED);
    sign_proof(c, proof, proof + STREAM_HEADER);
    buf_put(&c->out, proof, sizeof proof);
    if (!buf_ok(&c->out))
        return no_memory(c);
    buf_take(&c->in, DAEMON_LINK_ANSWER);
    return come_up(c, c->answer);
}

static enum daemon_link_event read_proof(struct daemon_link_crypto *c)
{
    const unsigned char *proof = bytes_in(c);
    unsigned char mac[MAC];

    if (buf_len(&c->in) < DAEMON_LINK_PROOF)
        return DAEMON_LINK_MORE;
    sign_proof(c, proof, mac);
    if (sodium_memcmp(mac, proof + STREAM_HEADER, MAC) != 0) {
        errmsg_set(&c->err, 0,
                   "it cannot prove that it has the key: its message was replayed or modified");
        return fail(c, DAEMON_LINK_REPLAY);
    }
    open_stream(c, proof);
    buf_take(&c->in, DAEMON_LINK_PROOF);
    return come_up(c, c->hello);
}

/* ---- records ---- */

static enum daemon_link_event altered(struct daemon_link_crypto *c)
{
    errmsg_set(&c->err, 0, "data on the link was modified");
    return fail(c, DAEMON_LINK_ALTERED);
}

static enum daemon_link_event take_piece(struct daemon_link_crypto *c, struct slice piece,
                                         bool last, struct slice *message)
{
    if (last && buf_len(&c->pieces) == 0) {
        *message = piece;
        return DAEMON_LINK_MESSAGE;
    }
    buf_slice_put(&c->pieces, piece);
    if (c->pieces.error == BUF_NO_MEMORY)
        return no_memory(c);
    if (!buf_ok(&c->pieces)) {
        errmsg_set(&c->err, 0, "it sent a message of more than %u bytes",
                   LIMIT_DAEMON_LINK_MESSAGE);
        return fail(c, DAEMON_LINK_TOO_LONG);
    }
    if (!last)
        return DAEMON_LINK_ALIVE;
    *message = buf_slice(&c->pieces);
    c->lent = true;
    return DAEMON_LINK_MESSAGE;
}

static enum daemon_link_event take_record(struct daemon_link_crypto *c, unsigned char tag,
                                          struct slice piece, struct slice *message)
{
    switch (tag) {
    case RECORD_LAST: return take_piece(c, piece, true, message);
    case RECORD_PIECE: return piece.len ? take_piece(c, piece, false, message) : DAEMON_LINK_ALIVE;
    case RECORD_BYE:
        if (piece.len)
            return altered(c);
        c->step = STEP_OVER;
        return DAEMON_LINK_BYE;
    default: return altered(c);
    }
}

/* Decrypted in place: a message of one piece is never copied. */
static enum daemon_link_event read_record(struct daemon_link_crypto *c, struct slice *message)
{
    size_t have = buf_len(&c->in), n;
    unsigned char *at = (unsigned char *)c->in.mem + c->in.start, *piece = at + 4 + 1, tag;
    unsigned long long plain;

    if (have < 4)
        return DAEMON_LINK_MORE;
    n = get32(at);
    if (n < SEAL || n > RECORD_MAX)
        return altered(c);
    if (have < 4 + n)
        return DAEMON_LINK_MORE;
    if (crypto_secretstream_xchacha20poly1305_pull(&c->keys->open, piece, &plain, &tag, at + 4, n,
                                                   NULL, 0) != 0)
        return altered(c);
    c->used = 4 + n;
    return take_record(c, tag, slice_mem(piece, plain), message);
}

enum daemon_link_event daemon_link_crypto_next(struct daemon_link_crypto *c, struct slice *message)
{
    enum daemon_link_event e = DAEMON_LINK_ALIVE;

    drop_used(c);
    if (c->in.cap > KEEP && buf_len(&c->in) == 0)
        buf_free(&c->in);
    if (c->lent)
        buf_free(&c->pieces);
    c->lent = false;
    *message = SLICE_NULL;
    while (e == DAEMON_LINK_ALIVE && c->step < STEP_RECORDS) {
        switch (c->step) {
        case STEP_HEAD: e = read_head(c); break;
        case STEP_BODY: e = c->role == DAEMON_LINK_CALLS ? read_answer(c) : read_hello(c); break;
        default: e = read_proof(c); break;
        }
    }
    if (c->step == STEP_OVER)
        return e == DAEMON_LINK_ALIVE ? DAEMON_LINK_MORE : e;
    return e == DAEMON_LINK_ALIVE ? read_record(c, message) : e;
}

const char *daemon_link_crypto_awaited(const struct daemon_link_crypto *c, size_t *have_p,
                                       size_t *need_p)
{
    bool calls = c->role == DAEMON_LINK_CALLS;

    *have_p = buf_len(&c->in);
    if (c->step == STEP_HEAD || c->step == STEP_BODY) {
        *need_p = calls ? DAEMON_LINK_ANSWER : DAEMON_LINK_HELLO;
        return calls ? "answer" : "hello";
    }
    *need_p = DAEMON_LINK_PROOF;
    return c->step == STEP_PROOF ? "proof" : NULL;
}

/* ---- sending ---- */

/* Copies n bytes of the parts, starting at *part, *at. */
static void gather(unsigned char *to, size_t n, const struct slice **part, size_t *at)
{
    while (n) {
        size_t some = (*part)->len - *at;

        if (some > n)
            some = n;
        if (some)
            memcpy(to, (*part)->ptr + *at, some);
        to += some;
        n -= some;
        *at += some;
        if (*at == (*part)->len && n) {
            (*part)++;
            *at = 0;
        }
    }
}

/* The room was reserved before.  Encrypted in place, behind the byte of the tag. */
static void seal(struct daemon_link_crypto *c, enum sealed_record tag, size_t n,
                 const struct slice **part, size_t *at)
{
    unsigned char *to = (unsigned char *)c->out.mem + c->out.end, *piece = to + 4 + 1;

    put32(to, (uint32_t)(n + SEAL));
    if (n)
        gather(piece, n, part, at);
    crypto_secretstream_xchacha20poly1305_push(&c->keys->seal, to + 4, NULL, piece, n, NULL, 0,
                                               (unsigned char)tag);
    buf_commit(&c->out, DAEMON_LINK_RECORD_EXTRA + n);
}

static int make_room(struct daemon_link_crypto *c, size_t n)
{
    bool full;

    if (!c->up || c->sent_bye || c->step == STEP_OVER)
        return -EPIPE;
    if (buf_room(&c->out, n))
        return 0;
    full = c->out.error == BUF_TOO_LONG;
    c->out.error = BUF_FINE; /* nothing was written */
    return full ? -ENOBUFS : -ENOMEM;
}

int daemon_link_crypto_send(struct daemon_link_crypto *c, const struct slice *parts, size_t nparts)
{
    size_t total = 0, at = 0;
    int rc;

    for (size_t i = 0; i < nparts; i++) {
        if (parts[i].len > LIMIT_DAEMON_LINK_MESSAGE - total)
            return -EMSGSIZE;
        total += parts[i].len;
    }
    rc = make_room(c, total + (total / DAEMON_LINK_CHUNK + 1) * DAEMON_LINK_RECORD_EXTRA);
    if (rc)
        return rc;
    for (; total > DAEMON_LINK_CHUNK; total -= DAEMON_LINK_CHUNK)
        seal(c, RECORD_PIECE, DAEMON_LINK_CHUNK, &parts, &at);
    seal(c, RECORD_LAST, total, &parts, &at);
    return 0;
}

static int send_word(struct daemon_link_crypto *c, enum sealed_record tag)
{
    int rc = make_room(c, DAEMON_LINK_RECORD_EXTRA);

    if (rc == 0)
        seal(c, tag, 0, NULL, NULL);
    return rc;
}

int daemon_link_crypto_alive(struct daemon_link_crypto *c)
{
    return send_word(c, RECORD_PIECE);
}

int daemon_link_crypto_bye(struct daemon_link_crypto *c)
{
    int rc = send_word(c, RECORD_BYE);

    if (rc == 0)
        c->sent_bye = true;
    return rc;
}
