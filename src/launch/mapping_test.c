/* mapping_test.c - the node of each rank, for every mapping. */
#include <string.h>

#include "base/buf.h"
#include "base/limit.h"
#include "tests/tap.h"
#include "launch/mapping.h"

struct job {
    const char *hosts[4]; /* node list of each block; NULL: that of the first */
    uint32_t nprocs[4];
    uint32_t napps;             /* 0: 1 */
    enum mapping_how how, how2; /* of blocks with way 1: how2 */
    uint32_t way[4];
    uint32_t per_node;
    enum mapping_over over;
    const char *rankmap;
    const uint32_t *entries; /* of four ranks */
    bool one_node;
    const char *file; /* the node list as a host file */
};

/* "a:3,2 ..." nodes with their slots; then the node of each rank by its name. */
static void plan_text(const struct job_map *p, struct buf *out)
{
    for (uint32_t r = 0; r < p->nprocs; r++)
        buf_printf(out, "%s%s%u", r ? " " : "", p->nodes[p->procs[r].node].name,
                   p->procs[r].local_rank);
}

static bool consistent(const struct job_map *p)
{
    uint32_t seen = 0, next = 0, total = 0;

    for (uint32_t r = 0; r < p->nprocs; r++) {
        const struct job_map_proc *q = &p->procs[r];
        if (q->rank != r || q->node > seen || q->node >= p->nnodes)
            return false;
        seen += q->node == seen; /* nodes are numbered by first use */
        if (r < p->apps[q->app].first_rank ||
            r >= p->apps[q->app].first_rank + p->apps[q->app].nprocs)
            return false;
    }
    for (uint32_t i = 0; i < p->napps; i++) {
        if (p->apps[i].first_rank != next)
            return false;
        next += p->apps[i].nprocs;
    }
    for (uint32_t i = 0; i < p->nnodes; i++)
        total += p->nodes[i].nprocs;
    return seen == p->nnodes && next == p->nprocs && total == p->nprocs;
}

static void check(struct job j, const char *expected)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct host_list lists[4] = { { 0 } };
    struct mapping_block blocks[4];
    const struct mapping_way ways[] = { { .how = j.how, .over = j.over },
                                        { .how = j.how2, .over = j.over } };
    struct mapping_request req = { .ways = ways,
                                   .nways = 2,
                                   .per_node = j.per_node,
                                   .rankmap = j.rankmap,
                                   .entries = j.entries,
                                   .nentries = 4,
                                   .one_node = j.one_node,
                                   .one_node_name = "here",
                                   .blocks = blocks };
    const struct host *const *node_hosts;
    struct errmsg err = { "" };
    struct buf out = BUF_NULL(65536);
    struct job_map p;
    int rc;

    job_map_init(&p);
    p.napps = j.napps ? j.napps : 1;
    p.apps = arena_array(&p.arena, p.napps, sizeof *p.apps);
    for (uint32_t i = 0; i < p.napps; i++) {
        if (j.file && i == 0)
            hosts_parse_file(&a, &lists[i], "nodes", slice_str(j.file), NULL);
        else if (j.hosts[i])
            hosts_parse_list(&a, &lists[i], slice_str(j.hosts[i]), NULL);
        blocks[i] =
            (struct mapping_block){ j.nprocs[i], lists[i].count ? &lists[i] : &lists[0], j.way[i] };
    }
    rc = mapping_place(&p, &req, &node_hosts, &err);
    if (rc == 0)
        plan_text(&p, &out);
    else
        buf_str(&out, err.text);
    if (!OK_F(buf_cstr(&out) && strcmp(buf_cstr(&out), expected) == 0, "%s", expected))
        printf("# got %s\n", buf_cstr(&out));
    OK_F(rc || (consistent(&p) && (j.one_node || node_hosts[0]->name[0] == expected[0])),
         "and the plan holds together");
    buf_free(&out);
    job_map_free(&p);
    arena_free(&a);
}

#define JOB(n, list, ...) ((struct job){ .nprocs = { n }, .hosts = { list }, __VA_ARGS__ })

static void test_slots(void)
{
    check(JOB(4, "a:2,b:2"), "a0 a1 b0 b1");
    check(JOB(4, "a,b"), "a0 b0 a1 b1");
    check(JOB(6, "a:2,b:1"), "a0 a1 b0 a2 a3 b1");
    check(JOB(5, "a,b", .per_node = 2), "a0 a1 b0 b1 a2");
    check(JOB(8, "a:3,b:1,c:2"), "a0 a1 a2 b0 c0 c1 a3 a4");
    check(JOB(2, "a:3,b"), "a0 a1");
    check(JOB(0, "a:3,b"), "a0 a1 a2 b0");
    check(JOB(0, "a:3,b", .per_node = 2), "a0 a1 b0 b1");
    check(JOB(4, "a,b,a"), "a0 b0 a1 a2");
    check(JOB(4, "a,b:2", .one_node = true), "here0 here1 here2 here3");
}

static void test_by_node(void)
{
    check(JOB(5, "a:3,b:1,c:2", .how = MAP_BY_NODE), "a0 b0 c0 a1 c1");
    check(JOB(9, "a:3,b:1,c:2", .how = MAP_BY_NODE), "a0 b0 c0 a1 c1 a2 a3 b1 c2");
    check(JOB(4, "a,b", .how = MAP_BY_NODE), "a0 b0 a1 b1");
    check(JOB(3, "a:9", .how = MAP_BY_NODE), "a0 a1 a2");
}

static void test_limits(void)
{
    check(JOB(3, "a:2,b", .over = OVER_NO), "a0 a1 b0");
    check(JOB(4, "a:2,b", .over = OVER_NO),
          "more processes than the 3 slots of the nodes; -oversubscribe allows more");
    check(JOB(4, "a,b", .per_node = 2, .how = MAP_PPR), "a0 a1 b0 b1");
    check(JOB(5, "a,b", .per_node = 2, .how = MAP_PPR),
          "more processes than the 4 slots of the nodes; -map-by ppr does not allow more");
    check(JOB(0, "a,b,c", .per_node = 2, .how = MAP_PPR), "a0 a1 b0 b1 c0 c1");
    check(JOB(7, NULL, .file = "a slots=1 max_slots=2\nb slots=2"), "a0 b0 b1 a1 b2 b3 b4");
    check(JOB(4, NULL, .file = "a slots=1 max_slots=2", .over = OVER_YES), "a0 a1 a2 a3");
    check(JOB(3, NULL, .file = "a slots=1 max_slots=2"),
          "more processes than the 2 slots of the nodes; -oversubscribe allows more");
    check(JOB(5, NULL, .file = "a max_slots=1\nb max_slots=3\na max_slots=1", .how = MAP_BY_NODE),
          "more processes than the 4 slots of the nodes; -oversubscribe allows more");
    check((struct job){ .nprocs = { LIMIT_JOB_PROCS, 1 }, .hosts = { "a" }, .napps = 2 },
          "more than 16777216 processes in one job");
}

static void test_blocks(void)
{
    check((struct job){ .nprocs = { 2, 3 }, .hosts = { "a:3,b:2" }, .napps = 2 }, "a0 a1 a2 b0 b1");
    check((struct job){ .nprocs = { 2, 3, 1 }, .hosts = { "a,b", "c" }, .napps = 3 },
          "a0 b0 c0 c1 c2 a1");
    check((struct job){ .nprocs = { 1, 2 }, .hosts = { "a,b", "b,a" }, .napps = 2 }, "a0 b0 a1");
    check((struct job){ .nprocs = { 1, 1 }, .hosts = { "a", "a" }, .napps = 2, .over = OVER_NO },
          "more processes than the 1 slots of the nodes; -oversubscribe allows more");
}

static void test_rankmap(void)
{
    check(JOB(4, "a:2,b", .rankmap = "0,1,1,0"), "a0 b0 b1 a1");
    check(JOB(4, "a,b,c", .rankmap = "(2,1,2),(0,1,2)"), "c0 c1 a0 a1");
    check(JOB(6, "a,b", .rankmap = "[0,1]x3"), "a0 b0 a1 b1 a2 b2");
    check(JOB(4, "a,b", .rankmap = "0,1"), "a0 b0 a1 b1");
    check(JOB(4, "a,b", .rankmap = "0,2,1,0"),
          "-rankmap: rank 1 is on node 2, but there are only 2 nodes");
    check(JOB(4, "a,b", .rankmap = "0,x"), "-rankmap: process mapping: expected a number at 'x'");
    check(JOB(3, "a,b", .rankmap = "1"),
          "-rankmap: process mapping: 1 of 3 ranks are placed, and no block is on node 0");
    check((struct job){ .nprocs = { 1, 1 }, .hosts = { "a", "b" }, .napps = 2, .rankmap = "0,0" },
          "-rankmap needs one node list for all programs");
}

static void test_seq(void)
{
    check(JOB(0, "a,b,a,a,c", .how = MAP_SEQ), "a0 b0 a1 a2 c0");
    check(JOB(3, "a,b,a,c", .how = MAP_SEQ), "a0 b0 a1");
    check(JOB(0, NULL, .file = "b\na slots=2\nb\n", .how = MAP_SEQ), "b0 a0 a1 b1");
    check(JOB(4, "a,b,a", .how = MAP_SEQ),
          "more processes than the 3 slots of the nodes; -map-by seq puts one process on each");
}

static void test_rankfile(void)
{
    static const uint32_t entries[] = { 1, 0, 1, 2 };

    check(JOB(0, "a,b,c", .entries = entries), "b0 a0 b1 c0");
    check(JOB(2, "a,b,c", .entries = entries), "b0 a0");
    check(JOB(5, "a,b,c", .entries = entries), "the rank file has no line for rank 4");
    check((struct job){ .nprocs = { 1, 0 }, .hosts = { "a,b,c" }, .napps = 2, .entries = entries },
          "b0 a0 b1 c0");
    check((struct job){ .nprocs = { 0, 1 }, .hosts = { "a,b,c" }, .napps = 2, .entries = entries },
          "the rank file has no line for rank 4");
    check((struct job){ .nprocs = { 1, 1 }, .hosts = { "a", "b" }, .napps = 2, .entries = entries },
          "-rankfile needs one node list for all programs");
}

/* Time grows with ranks and entries only: quadratic dealing would not end within the time limit. */
static void test_large(void)
{
    struct arena a = ARENA_NULL(256 << 20);
    struct host_list list = { 0 };
    struct mapping_block block = { 1000000, &list, 0 };
    struct mapping_way way = { .how = MAP_BY_SLOT };
    struct mapping_request req = { .ways = &way, .nways = 1, .blocks = &block };
    const struct host *const *node_hosts;
    struct errmsg err;
    struct job_map p;
    char name[32];

    for (int i = 0; i < 100000; i++) {
        struct host h = { .name = name, .slots = 1, .max_slots = i == 77777 ? 0 : 1 };
        snprintf(name, sizeof name, "node%d", i);
        h.name = arena_str(&a, slice_str(name));
        hosts_add(&a, &list, h);
    }
    for (int how = MAP_BY_SLOT; how <= MAP_BY_NODE; how++) {
        job_map_init(&p);
        p.napps = 1;
        p.apps = arena_array(&p.arena, 1, sizeof *p.apps);
        way.how = (enum mapping_how)how;
        EQ(mapping_place(&p, &req, &node_hosts, &err), 0);
        EQ(p.nnodes, 100000);
        EQ(p.nodes[77777].nprocs, 900001); /* the only one without a limit */
        EQ(p.procs[999999].local_rank, 900000);
        OK(consistent(&p));
        job_map_free(&p);
    }
    arena_free(&a);
}

static void check_parse(const char *text, struct mapping_spec want)
{
    struct mapping_spec got;
    struct errmsg err = { "" };
    int rc = mapping_parse(text, &got, &err);

    OK_F(rc == 0 && got.how == want.how && got.ppr == want.ppr && got.pe == want.pe &&
             got.object_given == want.object_given && got.object == want.object &&
             got.width == (want.width ? want.width : 1) && got.span == want.span &&
             got.over == want.over && slice_eq(slice_str(got.file), slice_str(want.file)),
         "-map-by %s", text ? text : "(not said)");
}

static void check_refused(const char *text, const char *why)
{
    struct mapping_spec spec;
    struct errmsg err = { "" };

    OK_F(mapping_parse(text, &spec, &err) == MAPPING_BAD && strstr(err.text, why) &&
             strstr(err.text, text),
         "%s", err.text);
}

static void test_words(void)
{
    check_parse(NULL, (struct mapping_spec){ 0 });
    check_parse("slot", (struct mapping_spec){ 0 });
    check_parse("NODE", (struct mapping_spec){ .how = MAP_BY_NODE });
    check_parse("core", (struct mapping_spec){ .object_given = true, .object = TOPO_CORE });
    check_parse("socket:2",
                (struct mapping_spec){ .object_given = true, .object = TOPO_PACKAGE, .width = 2 });
    check_parse("ppr:4:node",
                (struct mapping_spec){
                    .how = MAP_PPR, .ppr = 4, .object_given = true, .object = TOPO_MACHINE });
    check_parse("ppr:1:l3cache:pe=2",
                (struct mapping_spec){
                    .how = MAP_PPR, .ppr = 1, .object_given = true, .object = TOPO_L3, .pe = 2 });
    check_parse("slot:PE=3:nooversubscribe", (struct mapping_spec){ .pe = 3, .over = OVER_NO });
    check_parse(":OVERSUBSCRIBE", (struct mapping_spec){ .over = OVER_YES });
    check_parse("seq", (struct mapping_spec){ .how = MAP_SEQ });
    check_parse("seq:file=a:b", (struct mapping_spec){ .how = MAP_SEQ, .file = "a:b" });
    check_parse("rankfile:file=x", (struct mapping_spec){ .how = MAP_RANKFILE, .file = "x" });
    check_refused("seq:file=", "':' must be followed by");
    check_refused("", "it must be");
    check_refused("rank", "it must be");
    check_refused("ppr", "number of processes");
    check_refused("ppr:0:node", "number of processes");
    check_refused("ppr:x:node", "number of processes");
    check_refused("ppr:2", "needs an object");
    check_refused("ppr:2:rack", "needs an object");
    check_refused("slot:2", "':' must be followed by");
    check_refused("core:0", "':' must be followed by");
    check_refused("core:pe=0", "':' must be followed by");
    check_parse("socket:span", (struct mapping_spec){
                                   .object_given = true, .object = TOPO_PACKAGE, .span = true });
    check_parse("node:span", (struct mapping_spec){ .how = MAP_BY_NODE });
    check_refused("ppr:1:socket:span", "':' must be followed by");
}

int main(void)
{
    test_slots();
    test_by_node();
    test_limits();
    test_blocks();
    test_rankmap();
    test_seq();
    test_rankfile();
    test_large();
    test_words();
    return tap_done();
}
