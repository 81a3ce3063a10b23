/* rankfile_test.c - the node of each rank by a file, and one sentence for each mistake. */
#include "launch/rankfile.h"

#include <string.h>

#include "base/buf.h"
#include "tests/tap.h"

static bool is_me(void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "localhost") == 0;
}

/* "a/1:0-2 b/-" or the refusal; with a node list the entry of each rank instead of the name. */
static void describe(const char *text, const char *hosts, struct buf *out)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct host_list list = { 0 };
    const uint32_t *entries = NULL;
    struct errmsg err = { "" };
    struct rankfile f;
    int rc = rankfile_parse(&a, "ranks", slice_str(text), &f, &err);

    if (rc == 0 && hosts)
        rc = hosts_parse_list(&a, &list, slice_str(hosts), &err);
    if (rc == 0 && hosts)
        rc = rankfile_entries(&f, &list, &a, is_me, NULL, "me", &entries, &err);
    if (rc)
        buf_printf(out, "%d: %s", rc, err.text);
    for (uint32_t i = 0; rc == 0 && i < f.count; i++) {
        const struct rankfile_rank *r = &f.ranks[i];
        buf_str(out, i ? " " : "");
        if (entries)
            buf_printf(out, "%u", entries[i]);
        else if (r->host)
            buf_str(out, r->host);
        else
            buf_printf(out, "+%u", r->number);
        buf_printf(out, "/%s", r->slots ? r->slots : "-");
    }
    arena_free(&a);
}

static void check(const char *text, const char *hosts, const char *expected)
{
    struct buf out = BUF_NULL(65536);

    describe(text, hosts, &out);
    if (!OK_F(slice_is(buf_slice(&out), expected), "%s", expected))
        printf("# got %s\n", buf_cstr(&out));
    buf_free(&out);
}

static void test_files(void)
{
    check("rank 0=a slot=1:0-2\nrank 1=b slot=0:0,1\n", NULL, "a/1:0-2 b/0:0,1");
    check("# which\n\nrank 1=b slot=3   # here\r\n\trank 0 = a\tslot= 0\n", NULL, "a/0 b/3");
    check("rank 0=+n1 slot=0:*,1:0\nrank 1=+N0\nrank 2=+n2 slot=*", NULL, "+1/0:*,1:0 +0/- +2/*");
    check("rank 0=a slot=0:1;1:3-4", NULL, "a/0:1;1:3-4");
    check("rank 0=fe80::1 slot=0", NULL, "fe80::1/0");
}

static void test_entries(void)
{
    check("rank 0=b\nrank 1=a\nrank 2=+n1\nrank 3=a", "a:4,b", "1/- 0/- 1/- 0/-");
    check("rank 0=localhost\nrank 1=a", "a,me", "1/- 0/-");
    check("rank 0=a\nrank 1=c", "a,b", "1: ranks:2: node c is not in the node list");
    check("rank 0=localhost", "a,b", "1: ranks:1: node localhost is not in the node list");
    check("rank 0=+n2", "a,b", "1: ranks:1: +n2, but the node list has only 2 entries");
}

static void test_refusals(void)
{
    check("", NULL, "1: ranks: the rank file has no line for rank 0");
    check("rank 0=a\nrank 2=a", NULL, "1: ranks: the rank file has no line for rank 1");
    check("rank 0=a\nrank 16000000=a", NULL, "1: ranks: the rank file has no line for rank 1");
    check("rank 0=a\nrank 0=b", NULL, "1: ranks:2: rank 0 is already in line 1");
    check("rank 16777216=a", NULL, "1: ranks:1: expected a number after 'rank', not '16777216'");
    check("rank x=a", NULL, "1: ranks:1: expected a number after 'rank', not 'x'");
    check("0=a", NULL, "1: ranks:1: expected 'rank N=NODE slot=PLACES', not '0=a'");
    check("rank 0", NULL, "1: ranks:1: expected 'rank N=NODE', not ''");
    check("rank 0=", NULL, "1: ranks:1: expected 'rank N=NODE', not ''");
    check("rank 0=+1", NULL,
          "1: ranks:1: a position in the node list is written +n0, +n1, ..., not '+1'");
    check("rank 0=a core=1", NULL, "1: ranks:1: expected slot=PLACES after the node, not 'core=1'");
#define NO_PLACE(text)                                                                             \
    "1: ranks:1: '" text                                                                           \
    "' is not a place for a rank; examples: 1:0-2 (cores 0 to 2 of package 1), 3 (a core "         \
    "of the node), * (all cores)"
    check("rank 0=a slot=", NULL, NO_PLACE(""));
    check("rank 0=a slot=1:", NULL, NO_PLACE("1:"));
    check("rank 0=a slot=0,", NULL, NO_PLACE("0,"));
    check("rank 0=a slot=2-1", NULL, NO_PLACE("2-1"));
    check("rank 0=a slot=1:2:3", NULL, NO_PLACE("1:2:3"));
    check("rank 0=a slot=99999", NULL, NO_PLACE("99999"));
    check("rank 0=a slot=1|2", NULL, NO_PLACE("1|2"));
}

static void test_hosts(void)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct host_list list = { 0 };
    struct errmsg err = { "" };
    struct rankfile f;

    EQ(rankfile_parse(&a, "ranks", slice_str("rank 0=a\nrank 1=b\nrank 2=a"), &f, &err), 0);
    EQ(rankfile_hosts(&f, &a, &list, &err), 0);
    EQ(list.count, 2);
    OK(strcmp(list.items[0].name, "a") == 0 && list.items[0].slots == 2);
    OK(strcmp(list.items[1].name, "b") == 0 && list.items[1].slots == 1);
    OK(!f.binds);
    EQ(rankfile_parse(&a, "ranks", slice_str("rank 0=+n1 slot=0"), &f, &err), 0);
    OK(f.binds);
    EQ(rankfile_hosts(&f, &a, &list, &err), RANKFILE_BAD);
    OK(strcmp(err.text, "ranks:1: +n1 is a position in the node list, but there is no node list") ==
       0);
    arena_free(&a);
}

int main(void)
{
    test_files();
    test_entries();
    test_refusals();
    test_hosts();
    return tap_done();
}
