/* daemon_link.c - fuzzes the link between daemons.  The first byte chooses: the bytes of an
 * unauthenticated peer to either end; or, behind a greeting that went well, records as they are
 * (nothing but the untouched may be taken), or plain records that are sealed with the right key:
 * what an authenticated daemon gone mad could say. */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/daemon_link_crypto.h"
#include "tests/link_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned char key[DAEMON_LINK_KEY] = { 1, 2, 3 };

static void feed(struct daemon_link_crypto *c, struct slice bytes)
{
    struct slice m = SLICE_NULL;
    enum daemon_link_event e;

    while (bytes.len && c->fault == DAEMON_LINK_FINE) {
        bytes = link_bytes_put(c, bytes);
        while ((e = daemon_link_crypto_next(c, &m)) != DAEMON_LINK_MORE &&
               e != DAEMON_LINK_FAILED && e != DAEMON_LINK_BYE) {
            if (e == DAEMON_LINK_MESSAGE && slice_hash(m, 1) == 0 && m.len)
                continue; /* all of it is read */
        }
        if (e == DAEMON_LINK_FAILED && (c->fault == DAEMON_LINK_FINE || c->err.text[0] == '\0'))
            abort();
    }
}

static void carry(struct daemon_link_crypto *from, struct daemon_link_crypto *to)
{
    struct slice s = daemon_link_crypto_out(from);

    feed(to, s);
    daemon_link_crypto_sent(from, s.len);
}

/* One plain record under the next number of the sender. */
static void seal(struct daemon_link_crypto *from, struct slice plain, struct buf *out)
{
    unsigned char nonce[12] = { 0 }, head[4];
    size_t n = plain.len + 16;
    char *room = buf_room(out, 4 + n);

    if (!room)
        abort();
    for (unsigned i = 0; i < 4; i++)
        head[i] = (unsigned char)(n >> (24 - 8 * i));
    for (unsigned i = 0; i < 8; i++)
        nonce[4 + i] = (unsigned char)(from->sealed >> (8 * i));
    from->sealed++;
    memcpy(room, head, 4);
    crypto_aead_chacha20poly1305_ietf_encrypt((unsigned char *)room + 4, NULL,
                                              (const unsigned char *)plain.ptr, plain.len, head, 4,
                                              NULL, nonce, from->keys->seal);
    buf_commit(out, 4 + n);
}

static void mad(struct daemon_link_crypto *from, struct daemon_link_crypto *to, struct slice data)
{
    struct buf out = BUF_NULL(16 << 20);

    while (data.len > 1) {
        size_t n = (size_t)(unsigned char)data.ptr[0] + 1;
        seal(from, slice_head(slice_skip(data, 1), n), &out);
        data = slice_skip(data, n + 1);
    }
    feed(to, buf_slice(&out));
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char one[DAEMON_LINK_SEED] = { 0, 1 }, two[DAEMON_LINK_SEED] = { 0, 2 };
    struct daemon_link_crypto a, b;
    struct slice rest = slice_skip(slice_mem(data, size), 1);

    if (size == 0)
        return 0;
    if (daemon_link_crypto_init(&a, DAEMON_LINK_CALLS, key, one, 1, 1 << 20) < 0 ||
        daemon_link_crypto_init(&b, DAEMON_LINK_ANSWERS, key, two, 0, 1 << 20) < 0)
        abort();
    if (data[0] % 4 < 2) {
        feed(data[0] % 4 ? &a : &b, rest);
        if (a.up || b.up)
            abort();
    } else {
        carry(&a, &b);
        carry(&b, &a);
        carry(&a, &b);
        if (!a.up || !b.up)
            abort();
        if (data[0] % 4 == 2) {
            feed(&b, rest);
            if (b.opened > 1)
                abort();
        } else {
            mad(&a, &b, rest);
        }
    }
    daemon_link_crypto_free(&a);
    daemon_link_crypto_free(&b);
    return 0;
}
