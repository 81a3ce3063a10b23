/* daemon_link_crypto_test.c - the protocol of a link: cut at every byte, changed at every byte,
 * replayed, spoken by unauthenticated peers, other versions and other jobs; messages of every size.
 */
#include "io/daemon_link_crypto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "io/daemon_link_keys.h"
#include "tests/link_bytes.h"
#include "tests/tap.h"

enum { OUT_MAX = 64 << 20 };

static const unsigned char key[DAEMON_LINK_KEY] = "one key for all of the job.....";
static const unsigned char other_key[DAEMON_LINK_KEY] = "another key....................";

static unsigned seeds;

static void open_code(struct daemon_link_crypto *c, enum daemon_link_role role,
                      const unsigned char *k, uint32_t pos)
{
    unsigned char seed[DAEMON_LINK_SEED] = { 0 };

    seed[1] = (unsigned char)++seeds;
    seed[2] = (unsigned char)(seeds >> 8);
    if (daemon_link_crypto_init(c, role, k, seed, pos, OUT_MAX) < 0)
        abort();
}

static void feed(struct daemon_link_crypto *c, struct slice bytes)
{
    while (bytes.len)
        bytes = link_bytes_put(c, bytes);
}

/* Moves at most `step` bytes from one to the other; their number. */
static size_t carry(struct daemon_link_crypto *from, struct daemon_link_crypto *to, size_t step)
{
    struct slice s = slice_head(daemon_link_crypto_out(from), step);

    feed(to, s);
    daemon_link_crypto_sent(from, s.len);
    return s.len;
}

static enum daemon_link_event next(struct daemon_link_crypto *c)
{
    struct slice m;

    return daemon_link_crypto_next(c, &m);
}

/* Runs the handshake until both are up or one fails; true: both up. */
static bool greet(struct daemon_link_crypto *a, struct daemon_link_crypto *b, size_t step)
{
    enum daemon_link_event ea = DAEMON_LINK_MORE, eb = DAEMON_LINK_MORE;

    for (int turn = 0; turn < 100000; turn++) {
        size_t moved = carry(a, b, step);
        if (moved && eb != DAEMON_LINK_UP)
            eb = next(b);
        moved += carry(b, a, step);
        if (ea != DAEMON_LINK_UP)
            ea = next(a);
        if (ea == DAEMON_LINK_FAILED || eb == DAEMON_LINK_FAILED || (!moved && turn))
            break;
    }
    return ea == DAEMON_LINK_UP && eb == DAEMON_LINK_UP;
}

static void open_pair(struct daemon_link_crypto *a, struct daemon_link_crypto *b)
{
    open_code(a, DAEMON_LINK_CALLS, key, 5);
    open_code(b, DAEMON_LINK_ANSWERS, key, 0);
    if (!greet(a, b, 1000))
        abort();
}

static void close_pair(struct daemon_link_crypto *a, struct daemon_link_crypto *b)
{
    daemon_link_crypto_free(a);
    daemon_link_crypto_free(b);
    daemon_link_crypto_free(b);
}

static void test_greeting(void)
{
    bool all = true;

    for (size_t step = 1; step < 120; step++) {
        struct daemon_link_crypto a, b;
        open_code(&a, DAEMON_LINK_CALLS, key, 5);
        open_code(&b, DAEMON_LINK_ANSWERS, key, 0);
        all = all && daemon_link_crypto_send(&a, &(struct slice){ "x", 1 }, 1) == -EPIPE;
        all = all && greet(&a, &b, step) && a.position == 0 && b.position == 5 &&
              !strcmp(a.version, WIREUP_VERSION) && !strcmp(b.version, WIREUP_VERSION);
        close_pair(&a, &b);
    }
    OK_F(all, "both ends come up, however the greeting is cut, and know the other");
}

static bool awaits(const struct daemon_link_crypto *c, const char *what, size_t have, size_t need)
{
    size_t n, of;
    const char *name = daemon_link_crypto_awaited(c, &n, &of);

    return name && !strcmp(name, what) && n == have && of == need;
}

static void test_awaited(void)
{
    struct daemon_link_crypto a, b;
    size_t n, of;

    open_code(&a, DAEMON_LINK_CALLS, key, 5);
    open_code(&b, DAEMON_LINK_ANSWERS, key, 0);
    carry(&a, &b, 50);
    next(&b);
    OK(awaits(&b, "hello", 50, DAEMON_LINK_HELLO) && awaits(&a, "answer", 0, DAEMON_LINK_ANSWER));
    carry(&a, &b, DAEMON_LINK_HELLO);
    next(&b);
    carry(&b, &a, DAEMON_LINK_ANSWER);
    next(&a);
    carry(&a, &b, DAEMON_LINK_PROOF - 1);
    next(&b);
    OK(awaits(&b, "proof", DAEMON_LINK_PROOF - 1, DAEMON_LINK_PROOF));
    OK(!daemon_link_crypto_awaited(&a, &n, &of));
    close_pair(&a, &b);
}

static bool all_same(struct slice s, size_t len, unsigned salt)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] != (char)(i * 7 + salt))
            return false;
    }
    return s.len == len;
}

static void test_messages(void)
{
    static const size_t sizes[] = { 0,
                                    1,
                                    2,
                                    100,
                                    DAEMON_LINK_CHUNK - 1,
                                    DAEMON_LINK_CHUNK,
                                    DAEMON_LINK_CHUNK + 1,
                                    2 * DAEMON_LINK_CHUNK,
                                    3 * DAEMON_LINK_CHUNK + 17,
                                    5 << 20 };
    struct daemon_link_crypto a, b;
    bool all = true;

    open_pair(&a, &b);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i], third = n / 3;
        char *bytes = malloc(n + 1);
        struct slice parts[5] = {
            { bytes, third }, { NULL, 0 }, { bytes + third, n - third }, { NULL, 0 }
        };
        struct slice m;
        enum daemon_link_event e = DAEMON_LINK_MORE;
        bool got = false;
        for (size_t j = 0; j < n; j++)
            bytes[j] = (char)(j * 7 + i);
        all =
            all && daemon_link_crypto_send(&a, parts, 4) == 0 && daemon_link_crypto_alive(&a) == 0;
        while (carry(&a, &b, 60000)) {
            while ((e = daemon_link_crypto_next(&b, &m)) != DAEMON_LINK_MORE) {
                if (e == DAEMON_LINK_MESSAGE) {
                    got = all_same(m, n, i);
                } else if (e != DAEMON_LINK_ALIVE) {
                    all = false;
                    break;
                }
            }
        }
        all = all && got;
        free(bytes);
    }
    OK_F(all,
         "messages of every size arrive as they were sent, in parts, with signs of life between");
    OK_F(a.out.cap <= 1 << 20 && b.in.cap <= 1 << 20 && b.pieces.cap == 0,
         "nothing large is kept behind a large message");
    close_pair(&a, &b);
}

static void test_cut_everywhere(void)
{
    struct daemon_link_crypto a, b;
    struct slice m;
    unsigned got = 0;
    bool all = true;

    open_pair(&a, &b);
    for (unsigned i = 0; i < 20; i++) {
        struct slice s = { "a short message", i % 16 };
        all = all && daemon_link_crypto_send(&b, &s, 1) == 0;
    }
    all = all && daemon_link_crypto_bye(&b) == 0 &&
          daemon_link_crypto_send(&b, &(struct slice){ "x", 1 }, 1) == -EPIPE;
    while (carry(&b, &a, 1)) {
        enum daemon_link_event e = daemon_link_crypto_next(&a, &m);
        if (e == DAEMON_LINK_MESSAGE)
            all = all && m.len == got++ % 16 && memcmp(m.ptr, "a short message", m.len) == 0;
        else if (e == DAEMON_LINK_BYE)
            got += 100;
        else
            all = all && e == DAEMON_LINK_MORE;
    }
    OK_F(all && got == 120, "byte by byte: every message, then the good-bye (%u)", got);
    close_pair(&a, &b);
}

/* Every bit flip in a stream of records is detected at the record that has it. */
static void test_altered(void)
{
    unsigned unnoticed = 0, wrong = 0;

    for (unsigned at = 0; at < 3 * (DAEMON_LINK_RECORD_EXTRA + 4); at++) {
        struct daemon_link_crypto a, b;
        struct slice m, s;
        enum daemon_link_event e;
        unsigned before = at / (DAEMON_LINK_RECORD_EXTRA + 4), got = 0;
        char bytes[3 * (DAEMON_LINK_RECORD_EXTRA + 4)];

        open_pair(&a, &b);
        for (int i = 0; i < 3; i++)
            daemon_link_crypto_send(&a, &(struct slice){ "four", 4 }, 1);
        s = daemon_link_crypto_out(&a);
        memcpy(bytes, s.ptr, sizeof bytes);
        bytes[at] ^= 1;
        feed(&b, slice_mem(bytes, sizeof bytes));
        while ((e = daemon_link_crypto_next(&b, &m)) == DAEMON_LINK_MESSAGE)
            got++;
        /* A larger length waits for bytes that do not come: the bytes of the next record fail. */
        if (e == DAEMON_LINK_MORE) {
            static const char rest[60000];
            feed(&b, slice_mem(rest, sizeof rest));
            e = next(&b);
        }
        unnoticed += e != DAEMON_LINK_FAILED || b.fault != DAEMON_LINK_ALTERED;
        wrong += got != before;
        close_pair(&a, &b);
    }
    OK_F(unnoticed == 0 && wrong == 0, "each changed byte is noticed at its record (%u, %u)",
         unnoticed, wrong);
}

static void test_order(void)
{
    struct daemon_link_crypto a, b;
    struct slice s, m;
    char one[DAEMON_LINK_RECORD_EXTRA + 4], two[sizeof one];

    open_pair(&a, &b);
    daemon_link_crypto_send(&a, &(struct slice){ "left", 4 }, 1);
    daemon_link_crypto_send(&a, &(struct slice){ "next", 4 }, 1);
    s = daemon_link_crypto_out(&a);
    memcpy(one, s.ptr, sizeof one);
    memcpy(two, s.ptr + sizeof one, sizeof two);
    feed(&b, slice_mem(one, sizeof one));
    OK(daemon_link_crypto_next(&b, &m) == DAEMON_LINK_MESSAGE && slice_is(m, "left"));
    feed(&b, slice_mem(one, sizeof one));
    OK_F(next(&b) == DAEMON_LINK_FAILED && b.fault == DAEMON_LINK_ALTERED,
         "a record twice is refused");
    OK_F(next(&b) == DAEMON_LINK_MORE && daemon_link_crypto_send(&b, &s, 1) == -EPIPE,
         "and all is over");
    close_pair(&a, &b);

    open_pair(&a, &b);
    feed(&b, slice_mem(two, sizeof two));
    OK_F(next(&b) == DAEMON_LINK_FAILED && b.fault == DAEMON_LINK_ALTERED,
         "a record of another link is refused");
    close_pair(&a, &b);
}

/* One record that an authenticated peer seals, with any tag. */
static enum daemon_link_event receive_record(unsigned char tag, struct slice piece)
{
    struct daemon_link_crypto a, b;
    unsigned char record[100] = { 0 };
    unsigned long long n;
    enum daemon_link_event e;

    open_pair(&a, &b);
    crypto_secretstream_xchacha20poly1305_push(
        &a.keys->seal, record + 4, &n, (const unsigned char *)piece.ptr, piece.len, NULL, 0, tag);
    record[3] = (unsigned char)n;
    feed(&b, slice_mem(record, 4 + n));
    e = next(&b);
    if (e == DAEMON_LINK_FAILED)
        EQ(b.fault, DAEMON_LINK_ALTERED);
    close_pair(&a, &b);
    return e;
}

static void test_tags(void)
{
    const struct slice some = SLICE("four");

    EQ(receive_record(crypto_secretstream_xchacha20poly1305_TAG_PUSH, some), DAEMON_LINK_MESSAGE);
    EQ(receive_record(crypto_secretstream_xchacha20poly1305_TAG_MESSAGE, some), DAEMON_LINK_ALIVE);
    EQ(receive_record(crypto_secretstream_xchacha20poly1305_TAG_MESSAGE, SLICE_NULL),
       DAEMON_LINK_ALIVE);
    EQ(receive_record(crypto_secretstream_xchacha20poly1305_TAG_FINAL, SLICE_NULL),
       DAEMON_LINK_BYE);
    EQ(receive_record(crypto_secretstream_xchacha20poly1305_TAG_FINAL, some), DAEMON_LINK_FAILED);
    EQ(receive_record(crypto_secretstream_xchacha20poly1305_TAG_REKEY, some), DAEMON_LINK_FAILED);
    EQ(receive_record(4, some), DAEMON_LINK_FAILED);
}

/* All bytes that one end sent in one connection, replayed to a new one. */
static void test_replay(void)
{
    struct daemon_link_crypto a, b, again;
    char sent[2][4096];
    size_t n[2] = { 0, 0 };

    open_code(&a, DAEMON_LINK_CALLS, key, 5);
    open_code(&b, DAEMON_LINK_ANSWERS, key, 0);
    for (int turn = 0; turn < 4; turn++) {
        struct daemon_link_crypto *from = turn % 2 ? &b : &a;
        struct slice s;
        if (turn == 2)
            daemon_link_crypto_send(&a, &(struct slice){ "secret", 6 }, 1);
        s = daemon_link_crypto_out(from);
        memcpy(sent[turn % 2] + n[turn % 2], s.ptr, s.len);
        n[turn % 2] += s.len;
        carry(from, turn % 2 ? &a : &b, 4096);
        next(turn % 2 ? &a : &b);
    }
    OK(a.up && b.up && n[0] > DAEMON_LINK_HELLO + DAEMON_LINK_PROOF);
    open_code(&again, DAEMON_LINK_ANSWERS, key, 0);
    feed(&again, slice_mem(sent[0], n[0]));
    OK_F(next(&again) == DAEMON_LINK_FAILED && again.fault == DAEMON_LINK_REPLAY && again.greeted &&
             !again.up,
         "a recorded caller is refused: %s", again.err.text);
    daemon_link_crypto_free(&again);
    open_code(&again, DAEMON_LINK_CALLS, key, 5);
    feed(&again, slice_mem(sent[1], n[1]));
    OK_F(next(&again) == DAEMON_LINK_FAILED && again.fault == DAEMON_LINK_WRONG_KEY,
         "a recorded answerer as well");
    daemon_link_crypto_free(&again);
    open_code(&again, DAEMON_LINK_CALLS, key, 5);
    feed(&again, slice_mem(daemon_link_crypto_out(&again).ptr, DAEMON_LINK_HELLO));
    OK_F(next(&again) == DAEMON_LINK_FAILED && !again.up, "our own hello is no answer");
    daemon_link_crypto_free(&again);
    close_pair(&a, &b);
}

/* Each byte of each handshake message changed: never are both sides up. */
static void test_changed_greeting(void)
{
    unsigned up = 0, silent = 0;

    for (unsigned at = 0; at < DAEMON_LINK_HELLO + DAEMON_LINK_ANSWER + DAEMON_LINK_PROOF; at++) {
        struct daemon_link_crypto a, b;
        size_t seen = 0;
        open_code(&a, DAEMON_LINK_CALLS, key, 5);
        open_code(&b, DAEMON_LINK_ANSWERS, key, 0);
        for (int turn = 0; turn < 3; turn++) {
            struct daemon_link_crypto *from = turn == 1 ? &b : &a, *to = turn == 1 ? &a : &b;
            struct slice s = daemon_link_crypto_out(from);
            char bytes[512];
            if (s.len)
                memcpy(bytes, s.ptr, s.len);
            if (at >= seen && at < seen + s.len)
                bytes[at - seen] ^= 0x10;
            seen += s.len;
            feed(to, slice_mem(bytes, s.len));
            daemon_link_crypto_sent(from, s.len);
            next(to);
        }
        up += a.up && b.up;
        silent += a.fault == DAEMON_LINK_FINE && b.fault == DAEMON_LINK_FINE;
        close_pair(&a, &b);
    }
    /* Program versions and reserved bytes are under the MAC too. */
    OK_F(up == 0 && silent == 0, "each changed byte of a greeting is noticed (%u, %u)", up, silent);
}

/* A caller that speaks other versions of the link is refused in a sentence, and can check it. */
static void receive_other_version(char newest, char oldest, const char *program)
{
    struct daemon_link_crypto a, b;
    char hello[DAEMON_LINK_HELLO];

    open_code(&a, DAEMON_LINK_CALLS, key, 5);
    open_code(&b, DAEMON_LINK_ANSWERS, key, 0);
    memcpy(hello, daemon_link_crypto_out(&a).ptr, sizeof hello);
    hello[9] = newest;
    hello[11] = oldest;
    memset(hello + 16, 0, 16);
    memcpy(hello + 16, program, strlen(program));
    memcpy(a.hello, hello, sizeof hello); /* as if it had sent it */
    feed(&b, slice_mem(hello, sizeof hello));
    OK_F(next(&b) == DAEMON_LINK_FAILED && b.fault == DAEMON_LINK_OTHER_VERSION &&
             strstr(b.err.text, program) && strstr(b.err.text, WIREUP_VERSION),
         "another version is named: %s", b.err.text);
    carry(&b, &a, 1000);
    OK_F(next(&a) == DAEMON_LINK_FAILED && a.fault == DAEMON_LINK_REFUSED &&
             strstr(a.err.text, "install the same"),
         "and the caller hears it: %s", a.err.text);
    close_pair(&a, &b);
}

static void test_strangers(void)
{
    struct daemon_link_crypto a, b;

    open_code(&b, DAEMON_LINK_ANSWERS, key, 0);
    feed(&b, slice_str("GET / HTTP/1.0\r\n\r\n"));
    OK_F(next(&b) == DAEMON_LINK_FAILED && b.fault == DAEMON_LINK_UNKNOWN_KEY &&
             daemon_link_crypto_out(&b).len == 0,
         "garbage is refused at its first byte, and not answered: %s", b.err.text);
    daemon_link_crypto_free(&b);

    open_code(&a, DAEMON_LINK_CALLS, other_key, 5);
    open_code(&b, DAEMON_LINK_ANSWERS, key, 0);
    OK(!greet(&a, &b, 1000) && b.fault == DAEMON_LINK_WRONG_KEY && !b.greeted);
    OK_F(a.fault == DAEMON_LINK_REFUSED && strstr(a.err.text, "another job"),
         "both ends say so: %s / %s", b.err.text, a.err.text);
    close_pair(&a, &b);

    receive_other_version(9, 7, "9.1.0");
    receive_other_version(DAEMON_LINK_VERSION - 1, DAEMON_LINK_VERSION - 1, "0.0.9");
}

/* Any listener at an address can refuse; the caller gives no advice because of it. */
static void receive_nothing(unsigned why, const struct daemon_link_crypto *by, const char *name)
{
    struct daemon_link_crypto a;
    char no[DAEMON_LINK_HEAD + 32] = "\x89WIREUP\n\0\x9\0\x9\3";

    open_code(&a, DAEMON_LINK_CALLS, key, 5);
    no[13] = (char)why;
    memcpy(no + 16, "6.6.6", 5);
    if (by)
        memcpy(no, daemon_link_crypto_out(by).ptr, sizeof no);
    feed(&a, slice_mem(no, sizeof no));
    OK_F(next(&a) == DAEMON_LINK_FAILED && a.fault == DAEMON_LINK_REFUSED &&
             !strstr(a.err.text, "install") && strstr(a.err.text, "has not proved"),
         "%s: %s", name, a.err.text);
    daemon_link_crypto_free(&a);
}

static void test_forged(void)
{
    struct daemon_link_crypto a, b;
    char future[DAEMON_LINK_HELLO];

    for (unsigned why = 0; why < 9; why++)
        receive_nothing(why, NULL, "a refusal that anybody can write");
    open_code(&a, DAEMON_LINK_CALLS, key, 5);
    open_code(&b, DAEMON_LINK_ANSWERS, key, 0);
    memcpy(future, daemon_link_crypto_out(&a).ptr, sizeof future);
    future[9] = future[11] = 9;
    feed(&b, slice_mem(future, sizeof future));
    OK(next(&b) == DAEMON_LINK_FAILED && daemon_link_crypto_out(&b).len == DAEMON_LINK_HEAD + 32);
    receive_nothing(0, &b, "one that was said to another caller");
    close_pair(&a, &b);
    open_code(&a, DAEMON_LINK_CALLS, key, 5);
    memset(future, 0, sizeof future);
    memcpy(future, "\x89WIREUP\n\0\x9\0\x9\2", 13);
    feed(&a, slice_mem(future, sizeof future));
    OK_F(next(&a) == DAEMON_LINK_FAILED && !strstr(a.err.text, "install"),
         "an answer of another version: %s", a.err.text);
    daemon_link_crypto_free(&a);
}

static void test_limits(void)
{
    struct daemon_link_crypto a;
    unsigned char seed[DAEMON_LINK_SEED] = { 99 };
    struct daemon_link_crypto b;
    static const char bytes[1000];
    struct slice s = { bytes, sizeof bytes };
    struct slice huge[2] = { { bytes, LIMIT_DAEMON_LINK_MESSAGE }, { bytes, 1 } };
    int rc = 0, sent = 0;

    daemon_link_crypto_init(&a, DAEMON_LINK_CALLS, key, seed, 1, 10000);
    open_code(&b, DAEMON_LINK_ANSWERS, key, 0);
    OK(greet(&a, &b, 1000));
    EQ(daemon_link_crypto_send(&a, huge, 2), -EMSGSIZE);
    while (rc == 0 && sent < 100) {
        rc = daemon_link_crypto_send(&a, &s, 1);
        sent += rc == 0;
    }
    OK_F(rc == -ENOBUFS && sent == 9, "too much that waits is refused");
    while (carry(&a, &b, 60000))
        continue;
    OK(daemon_link_crypto_send(&a, &s, 1) == 0);
    carry(&a, &b, 60000);
    while (next(&b) == DAEMON_LINK_MESSAGE)
        sent--;
    OK_F(sent == -1, "and nothing of it was half sent");
    close_pair(&a, &b);
}

int main(void)
{
    test_greeting();
    test_awaited();
    test_messages();
    test_cut_everywhere();
    test_altered();
    test_order();
    test_tags();
    test_replay();
    test_changed_greeting();
    test_strangers();
    test_forged();
    test_limits();
    return tap_done();
}
