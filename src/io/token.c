/* token.c - see token.h.  The hash is checked before anything in it is read. */
#include "io/token.h"

#include <sodium.h>
#include <string.h>

#define PREFIX "wireup:"

enum {
    VERSION = 1,
    HEAD = 1 + 3 * 4 + 8,
    HASH = crypto_generichash_BYTES,
    MOST = HEAD + TOKEN_NSPACE + HASH,
    BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING
};

_Static_assert(TOKEN_KEY == crypto_generichash_KEYBYTES, "the key of the hash");

void token_key(const unsigned char *master, unsigned char *key_p)
{
    static const unsigned char use[] = "wireup: tokens, version 1";

    crypto_generichash(key_p, TOKEN_KEY, use, sizeof use, master, TOKEN_KEY);
}

static unsigned char *put(unsigned char *to, uint64_t number, int bytes)
{
    while (bytes--)
        *to++ = (unsigned char)(number >> 8 * bytes);
    return to;
}

static uint64_t take(const unsigned char **from, int bytes)
{
    uint64_t number = 0;

    while (bytes--)
        number = number << 8 | *(*from)++;
    return number;
}

static void hash(const unsigned char *key, const unsigned char *bytes, size_t n, unsigned char *to)
{
    crypto_generichash(to, HASH, bytes, n, key, TOKEN_KEY);
}

void token_write(const unsigned char *key, const struct token *t, struct buf *out)
{
    char text[sodium_base64_ENCODED_LEN(MOST, BASE64)];
    unsigned char bytes[MOST], *to = bytes;
    size_t name = strnlen(t->nspace, TOKEN_NSPACE);

    to = put(to, VERSION, 1);
    to = put(to, t->uid, 4);
    to = put(to, t->gid, 4);
    to = put(to, t->rank, 4);
    to = put(to, t->expires_s, 8);
    memcpy(to, t->nspace, name);
    hash(key, bytes, HEAD + name, to + name);
    sodium_bin2base64(text, sizeof text, bytes, HEAD + name + HASH, BASE64);
    buf_str(out, PREFIX);
    buf_str(out, text);
}

bool token_is_one(struct slice text)
{
    return text.len >= sizeof PREFIX - 1 && !memcmp(text.ptr, PREFIX, sizeof PREFIX - 1);
}

/* The length of the signed bytes; 0: they are not ours. */
static size_t open_text(const unsigned char *key, struct slice text, unsigned char bytes[MOST])
{
    unsigned char good[HASH];
    const char *end;
    size_t n;

    if (!token_is_one(text))
        return 0;
    text = slice_mem(text.ptr + sizeof PREFIX - 1, text.len - (sizeof PREFIX - 1));
    if (sodium_base642bin(bytes, MOST, text.ptr, text.len, NULL, &n, &end, BASE64) != 0 ||
        end != text.ptr + text.len || n < HEAD + HASH)
        return 0;
    n -= HASH;
    hash(key, bytes, n, good);
    return sodium_memcmp(good, bytes + n, HASH) == 0 && bytes[0] == VERSION ? n : 0;
}

int token_read(const unsigned char *key, const char *nspace, uint64_t now_s, struct slice text,
               struct token *t_p)
{
    unsigned char bytes[MOST];
    const unsigned char *at = bytes + 1;
    size_t n = open_text(key, text, bytes);
    struct token t = { .uid = 0 };

    if (n == 0)
        return TOKEN_FORGED;
    t.uid = (uint32_t)take(&at, 4);
    t.gid = (uint32_t)take(&at, 4);
    t.rank = (uint32_t)take(&at, 4);
    t.expires_s = take(&at, 8);
    memcpy(t.nspace, at, n - HEAD);
    if (strcmp(t.nspace, nspace) != 0)
        return TOKEN_OTHER_JOB;
    if (t.expires_s <= now_s)
        return TOKEN_EXPIRED;
    *t_p = t;
    return 0;
}
