/* link_crypto.c - the cost of the links' cryptography (src/io/daemon_link_crypto.h): a handshake of
 * both ends, and messages of several sizes from one end to the other; beside them the two ways that
 * libsodium has to seal a record, one by one: an AEAD with numbered nonces, and a secretstream.
 *
 *   bench-link-crypto [ROUNDS]
 *
 * Prints nanoseconds of one thread, the best of all rounds. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "io/daemon_link_crypto.h"
#include "tests/link_bytes.h"

enum { HANDSHAKES = 50, OUT_MAX = 8 << 20, SIZE_MAX_RECORD = 64 << 10, BYTES = 4 << 20 };

static const unsigned char key[DAEMON_LINK_KEY] = { 1, 2, 3 };
static unsigned char plain[SIZE_MAX_RECORD], sealed[SIZE_MAX_RECORD + 64];

struct ends {
    struct daemon_link_crypto caller, answerer;
};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void carry(struct daemon_link_crypto *from, struct daemon_link_crypto *to)
{
    struct slice s = daemon_link_crypto_out(from), m;
    size_t n = s.len;

    while (s.len) {
        s = link_bytes_put(to, s);
        while (daemon_link_crypto_next(to, &m) != DAEMON_LINK_MORE) {
            if (to->fault != DAEMON_LINK_FINE)
                abort();
        }
    }
    daemon_link_crypto_sent(from, n);
}

static void connect_ends(struct ends *e)
{
    static unsigned char one[DAEMON_LINK_SEED], two[DAEMON_LINK_SEED] = { 1 };

    one[1]++;
    two[1]++;
    if (daemon_link_crypto_init(&e->caller, DAEMON_LINK_CALLS, key, one, 1, OUT_MAX) < 0 ||
        daemon_link_crypto_init(&e->answerer, DAEMON_LINK_ANSWERS, key, two, 0, OUT_MAX) < 0)
        abort();
    carry(&e->caller, &e->answerer);
    carry(&e->answerer, &e->caller);
    carry(&e->caller, &e->answerer);
    if (!e->caller.up || !e->answerer.up)
        abort();
}

static void disconnect(struct ends *e)
{
    daemon_link_crypto_free(&e->caller);
    daemon_link_crypto_free(&e->answerer);
}

static double handshake(size_t size)
{
    double begun = now_ns();

    (void)size;
    for (int i = 0; i < HANDSHAKES; i++) {
        struct ends e;
        connect_ends(&e);
        disconnect(&e);
    }
    return (now_ns() - begun) / HANDSHAKES;
}

static int times(size_t size)
{
    int n = (int)(BYTES / (size + 256));

    return n < 8 ? 8 : n;
}

static double message(size_t size)
{
    struct slice part = slice_mem(plain, size);
    struct ends e;
    double begun, took;

    connect_ends(&e);
    begun = now_ns();
    for (int i = 0; i < times(size); i++) {
        if (daemon_link_crypto_send(&e.caller, &part, 1) < 0)
            abort();
        carry(&e.caller, &e.answerer);
    }
    took = (now_ns() - begun) / times(size);
    disconnect(&e);
    return took;
}

static double by_aead(size_t size)
{
    unsigned char nonce[12] = { 0 }, length[4] = { 0 };
    unsigned long long n;
    double begun = now_ns();

    for (int i = 0; i < times(size); i++) {
        crypto_aead_chacha20poly1305_ietf_encrypt(sealed, &n, plain, size, length, 4, NULL, nonce,
                                                  key);
        if (crypto_aead_chacha20poly1305_ietf_decrypt(plain, &n, NULL, sealed, n, length, 4, nonce,
                                                      key) != 0)
            abort();
    }
    return (now_ns() - begun) / times(size);
}

static double by_stream(size_t size)
{
    crypto_secretstream_xchacha20poly1305_state push, pull;
    unsigned char head[crypto_secretstream_xchacha20poly1305_HEADERBYTES], length[4] = { 0 }, tag;
    unsigned long long n;
    double begun;

    crypto_secretstream_xchacha20poly1305_init_push(&push, head, key);
    crypto_secretstream_xchacha20poly1305_init_pull(&pull, head, key);
    begun = now_ns();
    for (int i = 0; i < times(size); i++) {
        crypto_secretstream_xchacha20poly1305_push(&push, sealed, &n, plain, size, length, 4, 0);
        if (crypto_secretstream_xchacha20poly1305_pull(&pull, plain, &n, &tag, sealed, n, length,
                                                       4) != 0)
            abort();
    }
    return (now_ns() - begun) / times(size);
}

static void row(const char *name, double (*cost)(size_t), size_t size, int rounds)
{
    double best = 0;

    for (int i = 0; i < rounds; i++) {
        double took = cost(size);
        if (i == 0 || took < best)
            best = took;
    }
    printf("%-24s %6zu bytes %10.0f ns\n", name, size, best);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = { 32, 256, 1024, 16 << 10, SIZE_MAX_RECORD };
    int rounds = argc > 1 ? atoi(argv[1]) : 20;

    if (sodium_init() < 0)
        return 1;
    row("handshake, both ends", handshake, 0, rounds);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        row("message", message, sizes[i], rounds);
        row("AEAD alone", by_aead, sizes[i], rounds);
        row("secretstream alone", by_stream, sizes[i], rounds);
    }
    return 0;
}
