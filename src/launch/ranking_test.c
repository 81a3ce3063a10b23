/* ranking_test.c - how ranks are numbered, for every -rank-by, on machines that nobody here has. */
#include "launch/ranking.h"

#include <string.h>

#include "base/buf.h"
#include "core/job_map_pack.h"
#include "core/procmap.h"
#include "tests/tap.h"
#include "launch/map_policy.h"

/* Two packages of two cores; a machine of one package with three cores. */
#define TWO "pack:2 [numa] core:2 pu:1"
#define ONE "pack:1 [numa] core:3 pu:1"

struct job {
    const char *hosts;
    const char *map_by, *rank_by, *bind_to;
    uint32_t nprocs, second;            /* second: of a second program */
    const char *other;                  /* the machine of nodes named z...; NULL: like all */
    const struct map_policy_words *own; /* of the second program; NULL: as the first */
};

struct machines {
    struct arena arena;
    struct bind_machine all, other;
    bool has_other;
};

static void make_machine(struct arena *a, const char *text, struct bind_machine *m)
{
    struct errmsg err;

    m->looked = topo_view_synthetic(a, text, &m->view, &err) == 0;
    m->allowed = cpus_new(a, m->view.processors);
    for (size_t cpu = 0; cpu < m->view.processors; cpu++)
        cpus_add(m->allowed, cpu);
}

static struct bind_machine *remote_machine(void *arg, const char *node)
{
    struct machines *m = arg;

    return node[0] == 'z' && m->has_other ? &m->other : &m->all;
}

struct world {
    struct machines machines;
    struct map_policies policy;
    struct job_map plan;
    struct errmsg err;
};

/* As in plan_builder.c. */
static int place(struct world *w, const struct job *j, const struct host_list *hosts)
{
    struct mapping_block blocks[2] = { { j->nprocs, hosts, 0 }, { j->second, hosts, 0 } };
    struct mapping_request req = { .blocks = blocks };
    const struct host *const *node_hosts;
    struct job_map *p = &w->plan;
    int rc;

    map_policies_request(&w->policy, blocks, &req);
    p->napps = j->second ? 2 : 1;
    p->apps = arena_array(&p->arena, 2, sizeof *p->apps);
    map_policies_note(&w->policy, p);
    rc = mapping_place(p, &req, &node_hosts, &w->err);
    return rc ? rc : map_policies_apply(&w->policy, p, node_hosts, &w->err);
}

static void begin(struct world *w, const struct job *j, struct host_list *hosts)
{
    const struct map_policy_words one = { j->map_by, j->rank_by, j->bind_to, OVER_UNSAID };
    const struct map_policy_words words[2] = { one, j->own ? *j->own : one };

    memset(w, 0, sizeof *w);
    arena_init(&w->machines.arena, 1 << 26);
    job_map_init(&w->plan);
    make_machine(&w->machines.arena, TWO, &w->machines.all);
    w->machines.has_other = j->other != NULL;
    if (j->other)
        make_machine(&w->machines.arena, j->other, &w->machines.other);
    hosts_parse_list(&w->machines.arena, hosts, slice_str(j->hosts), &w->err);
    map_policies_parse(&w->policy, words, 2, &w->machines.arena, &w->err);
    w->policy.machines.remote_machine = remote_machine;
    w->policy.machines.arg = &w->machines;
}

static void end(struct world *w)
{
    job_map_free(&w->plan);
    arena_free(&w->machines.arena);
}

/* Ranks, nodes and local ranks keep their invariants for every request. */
static bool consistent(const struct job_map *p)
{
    uint32_t local[8] = { 0 }, seen = 0;

    for (uint32_t r = 0; r < p->nprocs; r++) {
        const struct job_map_proc *q = &p->procs[r];
        if (q->rank != r || q->node > seen || q->local_rank != local[q->node]++ ||
            r < p->apps[q->app].first_rank ||
            r >= p->apps[q->app].first_rank + p->apps[q->app].nprocs)
            return false;
        seen += q->node == seen;
    }
    return seen == p->nnodes;
}

/* "a0 a1 b0": the node of each rank and, where it is bound, the first of its processors. */
static void text_of(const struct job_map *p, struct buf *out)
{
    for (uint32_t r = 0; r < p->nprocs; r++) {
        const struct job_map_proc *q = &p->procs[r];
        buf_printf(out, "%s%s", r ? " " : "", p->nodes[q->node].name);
        if (q->cpus)
            buf_printf(out, "%d", __builtin_ctzl(q->cpus[0]));
    }
}

static void check(struct job j, const char *expected)
{
    struct host_list hosts = { 0 };
    struct buf out = BUF_NULL(65536);
    struct world w;
    int rc;

    begin(&w, &j, &hosts);
    rc = place(&w, &j, &hosts);
    if (rc == 0)
        text_of(&w.plan, &out);
    else
        buf_str(&out, w.err.text);
    if (!OK_F(buf_cstr(&out) && strcmp(buf_cstr(&out), expected) == 0, "-map-by %s -rank-by %s: %s",
              j.map_by ? j.map_by : "slot", j.rank_by, expected))
        printf("# got %s\n", buf_cstr(&out));
    OK_F(rc || consistent(&w.plan), "and the plan holds together");
    buf_free(&out);
    end(&w);
}

#define JOB(n, list, map, rank, ...)                                                               \
    ((struct job){ .nprocs = n, .hosts = list, .map_by = map, .rank_by = rank, __VA_ARGS__ })

static void test_nodes(void)
{
    check(JOB(5, "a:2,b:2", NULL, "slot"), "a a a b b");
    check(JOB(5, "a:2,b:2", "node", NULL), "a b a b a");
    check(JOB(5, "a:3,b:1,c:2", "node", "slot"), "a a b c c");
    check(JOB(6, "a:3,b:1,c:2", NULL, "node"), "a b c a c a");
    check(JOB(6, "a:3,b:1,c:2", "seq", "NODE"), "a b c a c a");
    check(JOB(5, "a:2,b:2", NULL, "span"), "a b a b a");
    check(JOB(5, "a:2,b:2", "node", "fill"), "a a a b b");
    check(JOB(3, "a:4,b:2", NULL, "node", .second = 3), "a a a a b b");
    check(JOB(3, "a:2,b:4", NULL, "node", .second = 3), "a b a b b b");
    check(JOB(4, "a:2,b:2", "node", "slot", .bind_to = "core"), "a0 a1 b0 b1");
}

static void test_objects(void)
{
    check(JOB(0, "a,b", "ppr:2:package", "slot", .bind_to = "core"), "a0 a1 a2 a3 b0 b1 b2 b3");
    check(JOB(0, "a,b", "ppr:2:package", "core", .bind_to = "core"), "a0 a1 a2 a3 b0 b1 b2 b3");
    check(JOB(0, "a,b", "ppr:2:package", "package", .bind_to = "core"), "a0 a2 a1 a3 b0 b2 b1 b3");
    check(JOB(0, "a,b", "ppr:2:package", "package:span", .bind_to = "core"),
          "a0 a2 b0 b2 a1 a3 b1 b3");
    check(JOB(0, "a,b", "ppr:2:package", "span", .bind_to = "core"), "a0 a2 b0 b2 a1 a3 b1 b3");
    check(JOB(0, "a,b", "ppr:2:package", "fill", .bind_to = "core"), "a0 a1 a2 a3 b0 b1 b2 b3");
    check(JOB(8, "a:4,b:4", "package", "fill", .bind_to = "core"), "a0 a1 a2 a3 b0 b1 b2 b3");
    check(JOB(8, "a:4,b:4", "package", NULL, .bind_to = "core"), "a0 a2 a1 a3 b0 b2 b1 b3");
    check(JOB(8, "a:4,b:4", "core", "package", .bind_to = "core"), "a0 a2 a1 a3 b0 b2 b1 b3");
    check(JOB(8, "a:4,b:4", "core", "Numa:Span", .bind_to = "core"), "a0 a2 b0 b2 a1 a3 b1 b3");
    check(JOB(6, "a:4,b:4", NULL, "package", .bind_to = "core"), "a0 a2 a1 a3 b0 b1");
    check(JOB(4, "a:4", "node", "socket:fill", .bind_to = "package"), "a0 a0 a2 a2");
    check(JOB(6, "a:6", NULL, "package:fill", .bind_to = "core"), "a0 a1 a0 a1 a2 a3");
    check(JOB(2, "a:4", "package", "fill", .second = 2, .bind_to = "core"), "a0 a2 a1 a3");
    check(JOB(4, "a:4,b:4", "package", "fill", .second = 4), "a a a a b b b b");
}

static void test_machines(void)
{
    struct job j = JOB(0, "a,z", "ppr:1:core", NULL, .other = ONE, .bind_to = "core");

    check(j, "a0 a1 a2 a3 z0 z1 z2");
    j.map_by = "ppr:2:package";
    check(j, "a0 a1 a2 a3 z0 z1");
    j.rank_by = "span";
    check(j, "a0 a2 z0 a1 a3 z1");
    j.rank_by = "package";
    check(j, "a0 a2 a1 a3 z0 z1");
    j.nprocs = 7;
    check(j, "more processes than the 6 slots of the nodes; -map-by ppr does not allow more");
    j.map_by = "ppr:1:l3cache";
    check(j, "-map-by ppr: node a has no l3cache");
    j = JOB(2, "a:1,z:1", NULL, "l2cache", .other = ONE);
    check(j, "-rank-by: node a has no l2cache");
}

/* The first four are what Open MPI 4.1's mpirun shows for such nodes, given by its simulator of
 * allocations. */
static void test_span(void)
{
    struct job j = JOB(4, "a:8,b:8", "socket:span", NULL, .bind_to = "socket");

    check(j, "a0 a2 b0 b2");
    j.nprocs = 5;
    check(j, "a0 a0 a2 b0 b2");
    j.nprocs = 6;
    check(j, "a0 a0 a2 a2 b0 b2");
    j.nprocs = 7;
    check(j, "a0 a0 a2 a2 b0 b0 b2");
    check(JOB(4, "a:8,b:8", "core:span", NULL, .bind_to = "core"), "a0 a1 a2 a3");
    check(JOB(6, "a:8,b:8", "core:span", NULL, .bind_to = "core"), "a0 a1 a2 a3 b0 b1");
    check(JOB(6, "a:8,b:8", "socket:span", "slot", .bind_to = "socket"), "a0 a2 a0 a2 b0 b2");
    check(JOB(6, "a:8,b:8", "socket:span", "socket:span", .bind_to = "socket"),
          "a0 a2 b0 b2 a0 a2");
    check(JOB(6, "a:8,b:8", "socket:span", NULL), "a a a a b b");
    check(JOB(5, "a:8,b:8", "machine:span", NULL), "a a a b b");
    check(JOB(6, "a:3,b:8", "socket:span", NULL, .bind_to = "socket"), "a0 a0 a2 b0 b0 b2");
    check(JOB(9, "a:2,b:2", "socket:span:oversubscribe", NULL), "a a a a a b b b b");
    check(JOB(5, "a:8,b:8", "slot:span", NULL), "a a a a a");
    check(JOB(5, "a:8,b:8", "node:span", NULL), "a b a b a");
    check(JOB(4, "a:8,z:8", "core:span", NULL, .other = ONE, .bind_to = "core"), "a0 a1 a2 a3");
    check(JOB(7, "z:8,a:8", "core:span", NULL, .other = ONE, .bind_to = "core"),
          "z0 z1 z2 a0 a1 a2 a3");
    check(JOB(4, "a:8,b:8", "l3cache:span", NULL), "-map-by: node a has no l3cache");
}

static void check_bad(const char *text)
{
    struct ranking_spec spec;
    struct errmsg err = { "" };

    OK_F(ranking_parse(text, &spec, &err) == RANKING_BAD &&
             strstr(err.text, "it must be slot, node"),
         "-rank-by %s is refused", text);
}

static void test_words(void)
{
    struct ranking_spec s;
    struct errmsg err;

    OK(ranking_parse(NULL, &s, &err) == 0 && s.how == RANK_AS_MAPPED);
    OK(ranking_parse("core", &s, &err) == 0 && s.how == RANK_BY_OBJECT && s.object == TOPO_CORE);
    OK(ranking_parse("L1cache:FILL", &s, &err) == 0 && s.how == RANK_FILL && s.object == TOPO_L1);
    check_bad("");
    check_bad("rank");
    check_bad("slot:span");
    check_bad("core:twice");
    check_bad("core:fill:span");
}

/* The mapping that programs read, parsed again, is the plan; and a plan that was sent binds like
 * the original. */
static void test_travel(void)
{
    struct job j =
        JOB(0, "a,z,c", "ppr:2:package", "package:span", .other = ONE, .bind_to = "core");
    struct host_list hosts = { 0 };
    struct buf map = BUF_NULL(4096), bytes = BUF_NULL(65536);
    static char *argv[] = { (char *)"a.out", NULL };
    static char *env[] = { NULL };
    uint32_t node_of[16];
    struct world w;
    struct job_map q;
    size_t same = 0;

    begin(&w, &j, &hosts);
    OK(place(&w, &j, &hosts) == 0 && w.plan.nprocs == 10);
    procmap_of_plan(&w.plan, &map);
    OK_F(buf_cstr(&map) && procmap_read(buf_slice(&map), w.plan.nprocs, node_of, &w.err) == 0, "%s",
         buf_cstr(&map));
    for (uint32_t r = 0; r < w.plan.nprocs; r++)
        same += node_of[r] == w.plan.procs[r].node;
    EQ(same, w.plan.nprocs);
    OK(job_map_bound(&w.plan, 0, 0)->nturns == 4 && !job_map_bound(&w.plan, 1, 0)->nturns);
    w.plan.apps[0].path = argv[0];
    w.plan.apps[0].argv = argv;
    w.plan.apps[0].argc = 1;
    w.plan.apps[0].env = env;
    job_map_pack(&w.plan, &bytes);
    OK(job_map_unpack(buf_slice(&bytes), &q, &w.err) == 0);
    same = 0;
    for (uint32_t n = 0; n < q.nnodes; n++)
        OK(plan_bind(&q, n, n == 1 ? &w.machines.other : &w.machines.all, &w.err) == 0);
    for (uint32_t r = 0; r < q.nprocs; r++)
        same += q.procs[r].local_rank == w.plan.procs[r].local_rank &&
                q.procs[r].cpus[0] == w.plan.procs[r].cpus[0];
    EQ(same, q.nprocs);
    job_map_free(&q);
    buf_free(&bytes);
    buf_free(&map);
    end(&w);
}

#define OWN(...) (&(const struct map_policy_words){ __VA_ARGS__ })

/* Each program is mapped, numbered and bound in its own way; the second begins with the slots that
 * the first has left free. */
static void test_own(void)
{
    check(JOB(2, "a:2,b:2", NULL, NULL, .second = 2, .own = OWN(.map_by = "node")), "a a b b");
    check(JOB(1, "a:2,b:2", NULL, NULL, .second = 3, .own = OWN(.map_by = "node")), "a a b b");
    check(JOB(3, "a:2,b:2", "node", NULL, .second = 3, .own = OWN(.map_by = NULL)), "a b a b a a");
    check(JOB(2, "a:4,b:4", NULL, NULL, .second = 4, .bind_to = "core",
              .own = OWN(.bind_to = "package")),
          "a0 a1 a2 a0 b0 b2");
    check(JOB(2, "a:4,b:4", NULL, NULL, .second = 2, .bind_to = "package", .own = OWN(NULL)),
          "a0 a2 a a");
    check(JOB(2, "a,b", "node", NULL, .second = 4, .bind_to = "core",
              .own = OWN(.map_by = "ppr:1:package", .bind_to = "package")),
          "a0 b0 a2 a0 b2 b0");
    check(JOB(4, "a:4,b:4", NULL, "node", .second = 4, .bind_to = "core",
              .own = OWN(.map_by = "node", .rank_by = "slot", .bind_to = "core")),
          "a0 a1 a2 a3 b0 b1 b2 b3");
    check(JOB(4, "a:4,b:4", "package", "package", .second = 4, .bind_to = "core",
              .own = OWN(.map_by = "node", .rank_by = "package:fill", .bind_to = "core")),
          "a0 a2 a1 a3 b0 b1 b2 b3");
    check(JOB(2, "a:2,z:2", NULL, NULL, .second = 3, .other = ONE, .bind_to = "core",
              .own = OWN(.map_by = "ppr:1:package", .bind_to = "package")),
          "a0 a1 a2 a0 z0");
    check(JOB(2, "a:2,b:2", NULL, NULL, .second = 3, .own = OWN(.map_by = "slot:nooversubscribe")),
          "more processes than the 4 slots of the nodes; -oversubscribe allows more");
    check(JOB(3, "a,b", "ppr:2:node", NULL, .second = 4, .own = OWN(.map_by = "ppr:1:package")),
          "a a b a a b b");
    check(JOB(3, "a,b", "ppr:2:node", NULL, .second = 3, .own = OWN(.map_by = "ppr:1:node")),
          "more processes than the 2 slots of the nodes; -map-by ppr does not allow more");
}

/* The bindings of two programs reach the nodes. */
static void test_own_travel(void)
{
    struct job j = JOB(4, "a:4,b:4", "node", "package:span", .second = 4, .bind_to = "core",
                       .own = OWN(.map_by = "slot", .rank_by = "package", .bind_to = "package"));
    struct host_list hosts = { 0 };
    struct buf bytes = BUF_NULL(65536);
    static char *argv[] = { (char *)"a.out", NULL };
    static char *env[] = { NULL };
    struct world w;
    struct job_map q;
    size_t same = 0;

    begin(&w, &j, &hosts);
    OK(place(&w, &j, &hosts) == 0 && w.plan.nplacements == 2);
    for (int i = 0; i < 2; i++) {
        w.plan.apps[i].path = argv[0];
        w.plan.apps[i].argv = argv;
        w.plan.apps[i].argc = 1;
        w.plan.apps[i].env = env;
    }
    job_map_pack(&w.plan, &bytes);
    OK(job_map_unpack(buf_slice(&bytes), &q, &w.err) == 0);
    for (uint32_t n = 0; n < q.nnodes; n++)
        OK(plan_bind(&q, n, &w.machines.all, &w.err) == 0);
    for (uint32_t r = 0; r < q.nprocs; r++)
        same += q.procs[r].local_rank == w.plan.procs[r].local_rank &&
                q.procs[r].cpus[0] == w.plan.procs[r].cpus[0];
    EQ(same, 8);
    job_map_free(&q);
    buf_free(&bytes);
    end(&w);
}

int main(void)
{
    test_own();
    test_own_travel();
    test_nodes();
    test_objects();
    test_machines();
    test_span();
    test_words();
    test_travel();
    return tap_done();
}
