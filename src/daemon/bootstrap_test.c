/* bootstrap_test.c - a daemon's record: written and read back, truncated anywhere, damaged
 * anywhere. */
#include "daemon/bootstrap.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static struct bootstrap_node nodes[] = { { 1, "n001", NULL, 0 },
                                         { 4, "n004.site.example", "user name", 22 },
                                         { 5, "fd00::5", NULL, 2222 } };
static struct bootstrap_above above[] = { { 3, "[fd00::3]:4711 10.0.0.3:4711" },
                                          { 0, "n0 100%:1" } };
static struct bootstrap_pair options[] = { { "agent", "ssh -F /a file" },
                                           { "word", "100% sure\nreally" },
                                           { "word", "" } };

static struct bootstrap sample(void)
{
    struct bootstrap b = { .position = 1,
                           .count = 9,
                           .width = 4,
                           .parent = 0,
                           .addresses = "10.0.0.1:4711 [fd00::1]:4711",
                           .above = above,
                           .nabove = 2,
                           .interface = "eth0",
                           .port_low = 7000,
                           .port_high = 7100,
                           .wall_ms = 1763762476123,
                           .verbose = true,
                           .nodes = nodes,
                           .nnodes = 3,
                           .options = options,
                           .noptions = 3 };

    if (bootstrap_make_key(&b) < 0)
        abort();
    for (int i = 0; i < BOOTSTRAP_KEY; i++)
        b.key[i] = (unsigned char)(i * 9);
    return b;
}

static void test_round(void)
{
    struct bootstrap b = sample(), c;
    struct buf out = BUF_NULL(65536), again = BUF_NULL(65536);
    struct arena a = ARENA_NULL(65536);
    struct errmsg err = { "" };
    uint32_t at = 0;

    OK(bootstrap_write(&b, &out) == 0 && bootstrap_length(buf_slice(&out)) == buf_len(&out));
    OK_F(bootstrap_read(&c, &a, buf_slice(&out), &err) == 0, "read again %s", err.text);
    OK(c.position == 1 && c.count == 9 && c.width == 4 && c.parent == 0 && c.wall_ms == b.wall_ms);
    OK(!memcmp(c.key, b.key, BOOTSTRAP_KEY) && !strcmp(c.addresses, b.addresses));
    OK(c.nabove == 2 && c.above[0].position == 3 && !strcmp(c.above[1].addresses, "n0 100%:1"));
    OK(!strcmp(c.interface, "eth0") && c.port_low == 7000 && c.port_high == 7100 && c.verbose);
    OK(c.nnodes == 3 && !strcmp(c.nodes[1].user, "user name") && !c.nodes[2].user &&
       !strcmp(c.nodes[2].name, "fd00::5"));
    OK(!c.nodes[0].port && c.nodes[1].port == 22 && c.nodes[2].port == 2222);
    OK(!strcmp(bootstrap_option(&c, "agent"), "ssh -F /a file") && !bootstrap_option(&c, "none"));
    OK(!strcmp(bootstrap_next_option(&c, "word", &at), "100% sure\nreally"));
    OK(!strcmp(bootstrap_next_option(&c, "word", &at), "") &&
       !bootstrap_next_option(&c, "word", &at));
    OK(bootstrap_write(&c, &again) == 0 && slice_eq(buf_slice(&out), buf_slice(&again)));
    bootstrap_wipe(&c);
    OK(!c.key);
    bootstrap_wipe(&c);
    bootstrap_wipe(&b);
    buf_free(&out);
    buf_free(&again);
    arena_free(&a);
}

static void test_cut(void)
{
    struct bootstrap b = sample(), c;
    struct buf out = BUF_NULL(65536);
    struct errmsg err;
    unsigned taken = 0, whole = 0, early = 0;

    bootstrap_write(&b, &out);
    for (size_t n = 0; n < buf_len(&out); n++) {
        struct arena a = ARENA_NULL(65536);
        struct slice s = slice_head(buf_slice(&out), n);
        early += bootstrap_length(s) != 0;
        taken += bootstrap_read(&c, &a, s, &err) == 0;
        bootstrap_wipe(&c);
        arena_free(&a);
    }
    whole = buf_len(&out) > 0;
    /* Without its last newline it is complete. */
    OK_F(whole && early == 0 && taken == 1, "a record that is cut is not taken (%u, %u)", early,
         taken);
    buf_byte(&out, 'x');
    OK_F(bootstrap_length(buf_slice(&out)) == buf_len(&out) - 1,
         "the byte after it is not part of it");
    buf_free(&out);
}

static void refuse(const char *text, const char *word)
{
    struct arena a = ARENA_NULL(65536);
    struct errmsg err = { "" };
    struct bootstrap b;
    int rc = bootstrap_read(&b, &a, slice_str(text), &err);

    OK_F(rc == BOOTSTRAP_BAD && strstr(err.text, word), "%s: %s", word, err.text);
    bootstrap_wipe(&b);
    arena_free(&a);
}

#define FIRST "wireup-boot 1 " WIREUP_VERSION "\n"
#define KEY   "key 0101010101010101010101010101010101010101010101010101010101010101\n"
#define REST  "count 3\nwidth 2\nparent 0\naddresses 1.2.3.4:5\n"

static void test_bad(void)
{
    struct arena a = ARENA_NULL(65536);
    struct errmsg err = { "" };
    struct bootstrap b;

    OK(bootstrap_read(&b, &a, slice_str(FIRST KEY REST "end\n"), &err) == 0);
    OK(b.position == BOOTSTRAP_BY_NAME);
    OK_F(bootstrap_read(&b, &a, slice_str("wireup-boot 1 " WIREUP_VERSION "\r\n" KEY REST "end\n"),
                        &err) == 0,
         "a terminal's line ends");
    arena_free(&a);
    refuse("", "no record");
    refuse("ls -l\n", "no record");
    refuse("wireup-boot 1 9.9.9\nend\n", "9.9.9");
    refuse("wireup-boot 2 " WIREUP_VERSION "\nend\n", "same");
    refuse(FIRST "end\n", "missing");
    refuse(FIRST REST "end\n", "missing");
    refuse(FIRST KEY "end\n", "missing");
    refuse(FIRST KEY REST "position 3\nend\n", "position");
    refuse(FIRST KEY REST "position 0\nend\n", "position");
    refuse(FIRST KEY REST "node 3 x\nend\n", "position of a node");
    refuse(FIRST KEY REST "node 1\nend\n", "a node");
    refuse(FIRST KEY REST "node 1 %zz\nend\n", "escape");
    refuse(FIRST KEY REST "node 1 a%00b\nend\n", "escape");
    refuse(FIRST KEY REST "node 1 a%4\nend\n", "escape");
    refuse(FIRST KEY REST "ports 9 8\nend\n", "ports");
    refuse(FIRST KEY REST "ports 0 8\nend\n", "ports");
    refuse(FIRST KEY REST "count x\nend\n", "number");
    refuse(FIRST KEY REST "kount 3\nend\n", "an unknown word");
    refuse(FIRST "key 01\n" REST "end\n", "key");
}

static void test_find(void)
{
    struct bootstrap b = sample();
    uint32_t p = 0;
    const char *short_name[] = { NULL, "n004" }, *long_name[] = { "n001.site.example" };
    const char *other[] = { "n00", "other" }, *exact[] = { "x", "FD00::5" };

    OK(bootstrap_find(&b, short_name, 2, &p) && p == 4);
    OK(bootstrap_find(&b, long_name, 1, &p) && p == 1);
    OK(bootstrap_find(&b, exact, 2, &p) && p == 5);
    OK(!bootstrap_find(&b, other, 2, &p));
}

static void test_answers(void)
{
    struct buf out = BUF_NULL(4096);
    struct slice text = SLICE_NULL;
    uint32_t p = 0;

    bootstrap_answer_write(&out, BOOTSTRAP_TROUBLE, 7, "no way\nto go");
    OK(slice_is(buf_slice(&out), "wireup-boot trouble 7 no way to go\n"));
    OK(bootstrap_answer_read(SLICE("wireup-boot trouble 7 no way to go\r"), &p, &text) ==
       BOOTSTRAP_TROUBLE);
    OK(p == 7 && slice_is(text, "no way to go"));
    OK(bootstrap_answer_read(SLICE("wireup-boot started - "), &p, &text) == BOOTSTRAP_STARTED &&
       p == BOOTSTRAP_BY_NAME && text.len == 0);
    OK(bootstrap_answer_read(SLICE("wireup-boot ready 3"), &p, &text) == BOOTSTRAP_READY && p == 3);
    OK(bootstrap_answer_read(SLICE("Welcome to n003"), &p, &text) == BOOTSTRAP_NOISE);
    OK(bootstrap_answer_read(SLICE("wireup-boot sings 3"), &p, &text) == BOOTSTRAP_NOISE);
    OK(bootstrap_answer_read(SLICE("wireup-boot ready x"), &p, &text) == BOOTSTRAP_NOISE);
    buf_free(&out);
}

int main(void)
{
    test_round();
    test_cut();
    test_bad();
    test_find();
    test_answers();
    return tap_done();
}
