/* daemon_link.c - fuzzes the link between daemons.  The first byte chooses: the bytes of an
 * unauthenticated peer to either end; or, behind a greeting that went well, records as they are
 * (nothing but the untouched may be taken), or plain records that are sealed with the right key:
 * what an authenticated daemon gone mad could say. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/daemon_link_crypto.h"
#include "io/daemon_link_keys.h"
#include "tests/link_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned char key[DAEMON_LINK_KEY] = { 1, 2, 3 };

/* Returns the number of messages and other signs of the peer that were taken. */
static unsigned feed(struct daemon_link_crypto *c, struct slice bytes)
{
    struct slice m = SLICE_NULL;
    enum daemon_link_event e;
    unsigned taken = 0;

    while (bytes.len && c->fault == DAEMON_LINK_FINE) {
        bytes = link_bytes_put(c, bytes);
        while ((e = daemon_link_crypto_next(c, &m)) != DAEMON_LINK_MORE &&
               e != DAEMON_LINK_FAILED && e != DAEMON_LINK_BYE) {
            taken++;
            if (e == DAEMON_LINK_MESSAGE && slice_hash(m, 1) == 0 && m.len)
                continue; /* all of it is read */
        }
        if (e == DAEMON_LINK_FAILED && (c->fault == DAEMON_LINK_FINE || c->err.text[0] == '\0'))
            abort();
    }
    return taken;
}

static void carry(struct daemon_link_crypto *from, struct daemon_link_crypto *to)
{
    struct slice s = daemon_link_crypto_out(from);

    feed(to, s);
    daemon_link_crypto_sent(from, s.len);
}

/* One record: its first byte is the tag. */
static void seal(struct daemon_link_crypto *from, struct slice plain, struct buf *out)
{
    size_t n = plain.len - 1 + crypto_secretstream_xchacha20poly1305_ABYTES;
    unsigned char *room = (unsigned char *)buf_room(out, 4 + n);

    if (!room)
        abort();
    for (unsigned i = 0; i < 4; i++)
        room[i] = (unsigned char)(n >> (24 - 8 * i));
    crypto_secretstream_xchacha20poly1305_push(&from->keys->seal, room + 4, NULL,
                                               (const unsigned char *)plain.ptr + 1, plain.len - 1,
                                               NULL, 0, (unsigned char)plain.ptr[0]);
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
            if (feed(&b, rest))
                abort();
        } else {
            mad(&a, &b, rest);
        }
    }
    daemon_link_crypto_free(&a);
    daemon_link_crypto_free(&b);
    return 0;
}
