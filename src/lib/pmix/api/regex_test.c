/* regex_test.c - maps of nodes and ranks: writing, reading, and that both agree. */
#include "lib/pmix/api/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "pmix_server.h"
#include "tests/tap.h"
#include "wire/pmix_zip.h"

/* Reads any form and writes the long one again; malloc'ed, or NULL and the reason. */
static char *long_form(struct slice regex, bool nodes, int *rc_p)
{
    struct arena a = ARENA_NULL(LIMIT_MAP_MEMORY);
    struct buf out = BUF_NULL(1u << 28);
    struct regex_nodes names;
    struct regex_ranks ranks;
    char *text = NULL;

    *rc_p = nodes ? regex_read_nodes(&a, regex, &names) : regex_read_ranks(&a, regex, &ranks);
    if (*rc_p == 0 && nodes)
        regex_nodes_text(&out, &names);
    else if (*rc_p == 0)
        regex_ranks_text(&out, &ranks);
    if (*rc_p == 0)
        text = buf_steal(&out, NULL);
    arena_free(&a);
    buf_free(&out);
    return text;
}

static void check(bool nodes, const char *input, const char *want)
{
    char *regex = NULL, *back;
    pmix_status_t rc =
        nodes ? PMIx_generate_regex(input, &regex) : PMIx_generate_ppn(input, &regex);
    int read;

    OK_F(rc == PMIX_SUCCESS && regex && strcmp(regex, want) == 0, "%s is %s", input, want);
    if (regex && strcmp(regex, want) != 0)
        printf("# got %s\n", regex);
    back = long_form(slice_str(regex), nodes, &read);
    OK_F(read == 0 && back && strcmp(back, input) == 0, "and back");
    if (back && strcmp(back, input) != 0)
        printf("# got %s\n", back);
    free(back);
    free(regex);
}

/* Regular expressions that OpenPMIx 4.2.2 writes, and so do we. */
static void test_as_recorded(void)
{
    check(true, "node01,node02,node03,x9", "pmix[node[2:1-3],x[1:9]]");
    check(true, "vm", "pmix[vm]");
    check(true, "a1,a2,a3,a5,a6,a9", "pmix[a[1:1-3,5-6,9]]");
    check(true, "a1,b1,a2,b2", "pmix[a[1:1],b[1:1],a[1:2],b[1:2]]");
    check(true, "a3,a2,a1", "pmix[a[1:3,2,1]]");
    check(true, "node9,node10,node11", "pmix[node[1:9],node[2:10-11]]");
    check(true, "node009,node010,node011", "pmix[node[3:9-11]]");
    check(true, "1,2,3", "pmix[[1:1-3]]");
    check(true, "n1,n1,n1", "pmix[n[1:1,1,1]]");
    check(true, "a,b,c", "pmix[a,b,c]");
    check(true, "node1a,node2a,node3a", "pmix[node[1:1-3]a]");
    check(true, "n00,n01,n1", "pmix[n[2:0-1],n[1:1]]");
    check(true, "", "raw:");
    check(false, "0,1,2;3,4;5", "raw:0,1,2;3,4;5");
    check(false, "0,1,2,3;4,5,6,7", "pmix[0-3;4-7]");
    check(false, "0", "raw:0");
    check(false, "0;1;2;3", "raw:0;1;2;3");
    check(false, "3,2,1;0", "raw:3,2,1;0");
    check(false, "5,6,7,8,9,1,2,3", "pmix[5-9,1-3]");
    check(false, "0,0,0", "raw:0,0,0");
}

/* Where OpenPMIx loses order, numbers or nodes, or needs more room. */
static void test_exact(void)
{
    check(true, "n1,n2,zz,n3,n4", "pmix[n[1:1-2],zz,n[1:3-4]]");
    check(true, "n4294967296,n4294967297", "pmix[n[10:4294967296-4294967297]]");
    check(true, "n99999999999999999998,n99999999999999999999",
          "pmix[n99999999999999999998,n99999999999999999999]");
    check(true, "node-1,node-2,node-3", "pmix[node-[1:1-3]]");
    check(true, "n1.dom,n2.dom", "pmix[n[1:1-2].dom]");
    check(true, "10.0.0.1,10.0.0.2", "pmix[10.0.0.[1:1-2]]");
    check(true, "rack1node1,rack1node2,rack2node1", "pmix[rack1node[1:1-2],rack2node[1:1]]");
    check(true, "a[1],b", "raw:a[1],b");
    check(false, "0,1,2,3,4;;5,6,7,8", "pmix[0-4;;5-8]");
    check(false, "0,1,2,3,4,5;", "pmix[0-5;]");
    check(false, ";0,1", "raw:;0,1");
    check(false, "4294967294,4294967295", "raw:4294967294,4294967295");
}

static void reads(bool nodes, const char *regex, const char *want)
{
    int rc;
    char *got = long_form(slice_str(regex), nodes, &rc);

    OK_F(rc == 0 && got && strcmp(got, want) == 0, "%s reads %s", regex, want);
    free(got);
}

static void refuses(bool nodes, struct slice regex, int want)
{
    int rc;
    char *got = long_form(regex, nodes, &rc);

    OK_F(rc == want && !got, "refused (%d): " SLICE_FMT, want, SLICE_ARG(slice_head(regex, 40)));
    free(got);
}

static void test_readers(void)
{
    reads(true, "a,b", "a,b"); /* no head: as given */
    reads(true, "raw:a,,b,", "a,b");
    reads(true, "pmix[n[3:9-11]x,m]", "n009x,n010x,n011x,m");
    reads(true, "pmix[n[1:9-11]]", "n9,n10,n11"); /* wider than the width field */
    reads(true, "pmix[]", "");
    reads(false, "raw:0-3;4", "0,1,2,3;4");
    reads(false, "pmix[0-3,8;4-7]", "0,1,2,3,8;4,5,6,7");
    reads(false, "0,1;2", "0,1;2");

    refuses(true, SLICE("pmix[a"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[a,,b]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[1:1-3]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[1:1-]]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[1:3-1]]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[x:1]]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[1-3]]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[1:]]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[1:1]a[1:2]]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[1:-1]]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[300:1]]"), REGEX_MALFORMED);
    refuses(true, SLICE("pmix[n[20:0-18446744073709551615]]"), REGEX_TOO_LONG);
    refuses(true, SLICE("pmix[n[9:0-999999],n[9:0-999999]]"), REGEX_TOO_LONG);
    refuses(true, SLICE("pmix[n[255:1]]"), REGEX_TOO_LONG);
    refuses(false, SLICE("pmix[0-3,,8]"), REGEX_MALFORMED);
    refuses(false, SLICE("pmix[0,1,]x"), REGEX_MALFORMED);
    refuses(false, SLICE("pmix[3-1]"), REGEX_MALFORMED);
    refuses(false, SLICE("pmix[a]"), REGEX_MALFORMED);
    refuses(false, SLICE("pmix[0 1]"), REGEX_MALFORMED);
    refuses(false, SLICE("pmix[4294967296]"), REGEX_MALFORMED);
    refuses(false, SLICE("pmix[0-4294967295]"), REGEX_MALFORMED);
    refuses(false, SLICE("pmix[0-4294967294]"), REGEX_TOO_LONG);
}

static void blob(struct buf *out, const char *text, const char *component, bool size_given)
{
    char *packed;
    size_t n;

    if (pzip_pack(slice_str(text), &packed, &n) != 0)
        return;
    buf_put(out, "blob:", 6);
    buf_printf(out, "component=%s:", component);
    buf_byte(out, 0);
    buf_printf(out, "%s%zu:", size_given ? "size=" : "", n);
    buf_byte(out, 0);
    buf_put(out, packed, n);
    free(packed);
}

static void test_blobs(void)
{
    struct buf names = BUF_NULL(1 << 20), out = BUF_NULL(1 << 20);
    const char *want;
    char *got;
    int rc;

    for (int i = 0; i < 2000; i++)
        buf_printf(&names, "%snode%04d", i ? "," : "", i);
    want = buf_cstr(&names);
    for (int given = 0; given < 2; given++) {
        buf_clear(&out);
        blob(&out, want, "zlib", given);
        got = long_form(buf_slice(&out), true, &rc);
        OK_F(rc == 0 && got && strcmp(got, want) == 0, "a compressed list, %s its size",
             given ? "naming" : "giving");
        free(got);
    }
    refuses(true, slice_head(buf_slice(&out), buf_len(&out) - 1), REGEX_MALFORMED);
    refuses(true, slice_head(buf_slice(&out), 30), REGEX_MALFORMED);
    refuses(true, SLICE("blob:\0component=zlib:\0"), REGEX_MALFORMED);
    buf_clear(&out);
    blob(&out, want, "zlibng", true);
    refuses(true, buf_slice(&out), REGEX_MALFORMED);
    buf_free(&out);
    buf_free(&names);
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool round_trip(const char *input, bool nodes)
{
    char *regex = NULL, *back;
    int rc;
    bool good;

    if ((nodes ? PMIx_generate_regex(input, &regex) : PMIx_generate_ppn(input, &regex)) !=
        PMIX_SUCCESS)
        return false;
    back = long_form(slice_str(regex), nodes, &rc);
    good = back && strcmp(back, input) == 0;
    free(regex);
    free(back);
    return good;
}

/* Names that look alike, in any order; ranks in runs, backwards, alone, and nodes without any. */
static void test_random(void)
{
    static const char *const heads[] = { "n", "node-", "a1b", "", "rack2n" };
    static const char *const tails[] = { "", "", "", ".dom", "-ib", "x" };
    uint64_t state = 42;
    int good = 0;

    for (int round = 0; round < 2000; round++) {
        struct buf b = BUF_NULL(1 << 20);
        uint64_t at = next(&state) % 1000;
        size_t count = 1 + next(&state) % 40;
        for (size_t i = 0; i < count; i++) {
            if (next(&state) % 4 == 0)
                at = next(&state) % 1000;
            if (i)
                buf_byte(&b, ',');
            if (next(&state) % 10 == 0)
                buf_str(&b, "login");
            else
                buf_printf(&b, "%s%0*d%s", heads[next(&state) % 50 < 45 ? 0 : next(&state) % 5],
                           (int)(next(&state) % 20 ? 3 : next(&state) % 6), (int)at++,
                           tails[next(&state) % 6]);
        }
        good += round_trip(buf_cstr(&b), true);
        buf_clear(&b);
        at = 0;
        for (size_t node = 0; node < count; node++) {
            size_t ranks = next(&state) % 12;
            if (node)
                buf_byte(&b, ';');
            for (size_t i = 0; i < ranks; i++) {
                if (next(&state) % 5 == 0)
                    at = next(&state) % 100000;
                buf_printf(&b, "%s%d", i ? "," : "", (int)at);
                at += next(&state) % 8 ? 1 : 0;
            }
        }
        good += round_trip(buf_cstr(&b), false);
        buf_free(&b);
    }
    EQ(good, 4000);
}

/* The largest machines: a million ranks on 16384 nodes, by block and cyclic. */
static void test_large(void)
{
    struct buf b = BUF_NULL(1u << 26);
    uint32_t nodes = 16384, each = 64;

    for (uint32_t i = 0; i < nodes; i++)
        buf_printf(&b, "%snid%06u", i ? "," : "", i + 1);
    OK(round_trip(buf_cstr(&b), true));
    for (int dealt = 0; dealt < 2; dealt++) {
        buf_clear(&b);
        for (uint32_t i = 0; i < nodes; i++) {
            for (uint32_t k = 0; k < each; k++) {
                if (k || i)
                    buf_byte(&b, k ? ',' : ';');
                buf_u64(&b, dealt ? k * nodes + i : i * each + k);
            }
        }
        OK_F(round_trip(buf_cstr(&b), false), "1048576 ranks on 16384 nodes, %s",
             dealt ? "dealt round" : "by blocks");
    }
    buf_free(&b);
}

static void test_arguments(void)
{
    char *out;

    EQ(PMIx_generate_regex(NULL, &out), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_generate_regex("a", NULL), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_generate_ppn(NULL, &out), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_generate_ppn("0", NULL), PMIX_ERR_BAD_PARAM);
}

int main(void)
{
    test_as_recorded();
    test_exact();
    test_readers();
    test_blobs();
    test_random();
    test_large();
    test_arguments();
    return tap_done();
}
