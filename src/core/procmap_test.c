/* procmap_test.c - process mappings: those that Wireup writes, and those that real servers write.
 */
#include <stdlib.h>
#include <string.h>

#include "core/job_map.h"
#include "core/procmap.h"
#include "tests/tap.h"

enum { RANKS_MAX = 4096 };

/* "0 0 1 1": the nodes of n ranks, or the condition. */
static void check_read(const char *map, uint32_t n, const char *expected)
{
    uint32_t nodes[RANKS_MAX];
    struct errmsg err = { { 0 } };
    struct buf out = BUF_NULL(65536);
    int rc = procmap_read(slice_str(map), n, nodes, &err);

    if (rc)
        buf_printf(&out, "%s", rc == PROCMAP_SHORT ? "short" : "bad");
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        buf_printf(&out, "%s%u", i ? " " : "", nodes[i]);
    if (!OK_F(buf_cstr(&out) && strcmp(buf_cstr(&out), expected) == 0, "%s for %u ranks", map, n))
        printf("# got %s %s\n", buf_cstr(&out), err.text);
    if (rc)
        OK_F(err.text[0] != '\0', "and a sentence: %s", err.text);
    buf_free(&out);
}

/* Examples from Hydra 4.0.2 and 5.0.1. */
static void test_seen(void)
{
    check_read("(vector,(0,2,2))", 4, "0 0 1 1");
    check_read("(vector,(0,2,1))", 4, "0 1 0 1");
    check_read("(vector,[(0,2,1)]x2)", 4, "0 1 0 1");
    check_read("(vector,(0,1,2),(1,1,1))", 6, "0 0 1 0 0 1");
    check_read("(vector,[(0,1,2),1]x2)", 6, "0 0 1 0 0 1");
    check_read("(vector,(0,2,2))", 5, "0 0 1 1 0");
    check_read("(vector,(0,2,2),0)", 5, "0 0 1 1 0");
    check_read("(vector,(0,1,3),(1,1,1),(2,1,2))", 8, "0 0 0 1 2 2 0 0");
    check_read("(vector,(0,1,3),1,(2,1,2),(0,1,2))", 8, "0 0 0 1 2 2 0 0");
    check_read("(vector,0)", 1, "0");
    check_read("(vector,(0,1,2))", 2, "0 0");
}

static void test_tolerance(void)
{
    check_read(" ( vector , ( 0 , 2 , 1 ) , 7 , [ 3 , (1,1,2) ] x 2 ) \n", 9, "0 1 7 3 1 1 3 1 1");
    check_read("(vector,[[0,1]x2,5]x2)", 10, "0 1 0 1 5 0 1 0 1 5");
    check_read("(vector,(1,2,1),(0,1,1))", 6, "1 2 0 0 0 0"); /* starts again at node 0 */
    check_read("(vector,3,(0,1,1),4)", 7, "3 0 4 0 4 0 4");
    check_read("(vector,3,[1,2]x2)", 9, "3 1 2 1 2 1 2 1 2"); /* or at the first '[' */
    check_read("(vector,(0,4,4))", 3, "0 0 0");               /* more than needed */
    check_read("(vector,(0,4294967295,4294967295))", 3, "0 0 0");
    check_read("(vector,[0]x4294967295)", 3, "0 0 0");
    check_read("(vector,(4294967295,1,2))", 2, "4294967295 4294967295");
    check_read("(vector,(0,1,1))", 0, "");
}

static void test_refusals(void)
{
    static const char *const bad[] = {
        "",
        "(vector)",
        "(vector,",
        "(vector,)",
        "vector,(0,1,1)",
        "(vektor,(0,1,1))",
        "(vector,(0,1))",
        "(vector,(0,1,1)",
        "(vector,(0,1,1),)",
        "(vector,(0,1,1)(1,1,1))",
        "(vector,(0,0,1))",
        "(vector,(0,1,0))",
        "(vector,(-1,1,1))",
        "(vector,(0,1,99999999999))",
        "(vector,(4294967295,2,1))",
        "(vector,[0)",
        "(vector,[0])",
        "(vector,[0]x)",
        "(vector,[0]x0)",
        "(vector,[]x2)",
        "(vector,[[[[[[[[[0]x1]x1]x1]x1]x1]x1]x1]x1]x1)",
        "(vector,x)",
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_read(bad[i], 2, "bad");
    check_read("(vector,(1,2,1))", 3, "short");
    check_read("(vector,(1,1,1),2)", 3, "short");
}

static void check_write(const char *nodes, const char *expected)
{
    struct buf out = BUF_NULL(65536);
    struct procmap_writer w;
    uint32_t back[RANKS_MAX], n = 0, node;
    struct slice rest = slice_str(nodes);
    bool same;

    procmap_begin(&w, &out);
    while (rest.len && slice_u32(slice_cut(&rest, ' '), &node))
        procmap_put(&w, node, 1), n++;
    procmap_end(&w);
    same = slice_is(buf_slice(&out), expected);
    if (!OK_F(same, "%s is written %s", nodes, expected))
        printf("# got %s\n", buf_cstr(&out));
    rest = slice_str(nodes);
    same = procmap_read(buf_slice(&out), n, back, NULL) == 0;
    for (uint32_t i = 0; i < n && same; i++)
        same = slice_u32(slice_cut(&rest, ' '), &node) && node == back[i];
    OK_F(same, "and read back");
    buf_free(&out);
}

static void test_write(void)
{
    check_write("0", "(vector,(0,1,1))");
    check_write("0 0 1 1", "(vector,(0,2,2))");
    check_write("0 1 0 1", "(vector,(0,2,1),(0,2,1))");
    check_write("0 0 1 0 0 1", "(vector,(0,1,2),(1,1,1),(0,1,2),(1,1,1))");
    check_write("0 0 1 1 0", "(vector,(0,2,2),(0,1,1))");
    check_write("0 0 0 1 2 2 0 0", "(vector,(0,1,3),(1,1,1),(2,1,2),(0,1,2))");
    check_write("2 1 0", "(vector,(2,1,1),(1,1,1),(0,1,1))");
    check_write("0 1 2 3 4 5 5 6 6", "(vector,(0,5,1),(5,2,2))");
}

/* Any map survives a round trip, and runs give the same as single ranks. */
static void test_random(void)
{
    uint32_t nodes[300], back[300];
    unsigned seed = 7;
    bool same = true;

    for (int turn = 0; turn < 300 && same; turn++) {
        struct buf one = BUF_NULL(65536), runs = BUF_NULL(65536);
        struct procmap_writer w, v;
        uint32_t n = 1 + (uint32_t)rand_r(&seed) % 300, wide = 1 + (uint32_t)rand_r(&seed) % 6;

        for (uint32_t i = 0; i < n; i++)
            nodes[i] = i && rand_r(&seed) % 3 ? nodes[i - 1] + (rand_r(&seed) % 4 == 0)
                                              : (uint32_t)rand_r(&seed) % wide;
        procmap_begin(&w, &one);
        procmap_begin(&v, &runs);
        for (uint32_t i = 0, k; i < n; i = k) {
            for (k = i; k < n && nodes[k] == nodes[i]; k++)
                procmap_put(&w, nodes[k], 1);
            procmap_put(&v, nodes[i], k - i);
            procmap_put(&v, 99, 0);
        }
        procmap_end(&w);
        procmap_end(&v);
        same = slice_eq(buf_slice(&one), buf_slice(&runs)) &&
               procmap_read(buf_slice(&one), n, back, NULL) == 0 &&
               memcmp(nodes, back, n * sizeof *nodes) == 0;
        buf_free(&one);
        buf_free(&runs);
    }
    OK_F(same, "300 maps come back as they were written");
}

static void test_plan(void)
{
    struct job_map p;
    struct buf out = BUF_NULL(1023);

    job_map_init(&p);
    p.nprocs = 1000;
    p.procs = arena_array(&p.arena, p.nprocs, sizeof *p.procs);
    for (uint32_t i = 0; i < p.nprocs; i++)
        p.procs[i].node = i / 10;
    procmap_of_plan(&p, &out);
    OK(slice_is(buf_slice(&out), "(vector,(0,100,10))"));
    buf_clear(&out);
    for (uint32_t i = 0; i < p.nprocs; i++)
        p.procs[i].node = i % 2;
    procmap_of_plan(&p, &out);
    OK_F(out.error == BUF_TOO_LONG, "a map that does not fit is known by its buffer");
    buf_free(&out);
    job_map_free(&p);
}

int main(void)
{
    test_seen();
    test_tolerance();
    test_refusals();
    test_write();
    test_random();
    test_plan();
    return tap_done();
}
