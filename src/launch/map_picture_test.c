/* map_picture_test.c - pictures of plans on a machine of two packages, with and without bindings.
 *
 *   test-map-picture                 the tests
 *   test-map-picture RANKS NODES     an SVG of such a plan, to be looked at */
#include "launch/map_picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "topo/device.h"

enum { CORES = 8, PER_PACKAGE = 4 };

/* Cores with two hardware threads each, in two packages; core 7 is not ours. */
static void make_machine(struct bind_machine *m, struct arena *a)
{
    struct topo_view *v = &m->view;

    *m = (struct bind_machine){ .looked = true, .allowed = cpus_new(a, 2 * CORES) };
    v->processors = 2 * CORES;
    v->kinds[TOPO_CORE] =
        (struct topo_objects){ CORES, arena_array(a, CORES, sizeof(struct cpus)) };
    v->kinds[TOPO_PACKAGE] = (struct topo_objects){ 2, arena_array(a, 2, sizeof(struct cpus)) };
    v->kinds[TOPO_HWTHREAD].count = 2 * CORES;
    for (uint32_t p = 0; p < 2; p++)
        v->kinds[TOPO_PACKAGE].cpus[p] = cpus_new(a, 2 * CORES);
    for (uint32_t i = 0; i < CORES; i++) {
        struct cpus c = cpus_new(a, 2 * CORES);
        cpus_add(c, i);
        cpus_add(c, i + CORES);
        v->kinds[TOPO_CORE].cpus[i] = c;
        cpus_or(v->kinds[TOPO_PACKAGE].cpus[i / PER_PACKAGE], c);
        if (i < CORES - 1)
            cpus_or(m->allowed, c);
    }
}

/* Ranks go round the cores of their node; the last one of a node has no processors of its own. */
static void make_plan(struct job_map *p, struct arena *a, const struct bind_machine *m,
                      uint32_t ranks, uint32_t nodes)
{
    *p = (struct job_map){ .nprocs = ranks, .nnodes = nodes, .napps = 1 };
    p->apps = arena_array(a, 1, sizeof *p->apps);
    p->nodes = arena_array(a, nodes, sizeof *p->nodes);
    p->procs = arena_array(a, ranks, sizeof *p->procs);
    p->apps[0].path = "/bin/sol<ver";
    for (uint32_t n = 0; n < nodes; n++)
        p->nodes[n].name = arena_printf(a, "n%u", n);
    for (uint32_t r = 0; r < ranks; r++) {
        struct job_map_proc *q = &p->procs[r];
        struct job_map_node *n = &p->nodes[(uint64_t)r * nodes / ranks];
        struct cpus core = m->view.kinds[TOPO_CORE].cpus[n->nprocs % (CORES - 1)];
        *q = (struct job_map_proc){ .rank = r, .node = (uint32_t)(n - p->nodes) };
        n->nprocs++;
        q->cpus = core.bits;
        q->cpus_bytes = core.words * sizeof *core.bits;
    }
    p->procs[ranks - 1].cpus = NULL;
}

struct world {
    struct arena arena;
    struct bind_machine machine;
    struct job_map plan;
    struct map_picture picture;
    struct buf out;
};

static void make(struct world *w, uint32_t ranks, uint32_t nodes)
{
    *w = (struct world){ .arena = ARENA_NULL((size_t)1 << 28), .out = BUF_NULL((size_t)1 << 28) };
    make_machine(&w->machine, &w->arena);
    make_plan(&w->plan, &w->arena, &w->machine, ranks, nodes);
    w->picture = (struct map_picture){ &w->plan, &w->machine, nodes > 1, NULL };
}

static void drop(struct world *w)
{
    buf_free(&w->out);
    arena_free(&w->arena);
}

static bool has_text(struct world *w, const char *text)
{
    return strstr(buf_cstr(&w->out), text) != NULL;
}

static void test_text(void)
{
    struct world w;

    make(&w, 9, 1);
    map_picture_text(&w.picture, 80, &w.out);
    OK(has_text(&w,
                "9 ranks on 1 node, each with 2 packages, 8 cores, 16 hwthreads\n\nn0: 9 ranks\n"));
    OK(has_text(&w, "  package 0   |0,7|1  |2  |3  |\n"));
    OK(has_text(&w, "  package 1   |4  |5  |6  |x  |\n"));
    OK(has_text(&w, "  rank 8: not bound\n"));
    drop(&w);
    make(&w, 200, 50);
    map_picture_text(&w.picture, 80, &w.out);
    OK(has_text(&w, "(as this machine; others are assumed to be like it)"));
    OK(has_text(&w, "and 18 more nodes\n"));
    OK(has_text(&w, "|0   |1   |2   |3   |\n"));
    OK(has_text(&w, "|.   |.   |.   |x   |\n"));
    drop(&w);
    make(&w, 100, 1);
    map_picture_text(&w.picture, 80, &w.out);
    OK(has_text(&w, "|(15)|(14)|(14)|(14)|\n"));
    drop(&w);
}

static void test_narrow(void)
{
    struct world w;

    make(&w, 4, 1);
    map_picture_text(&w.picture, 36, &w.out); /* five cores in a line */
    OK(has_text(&w, "  package 0   |0  |1  |2  |.  |\n"));
    drop(&w);
}

static void test_svg(void)
{
    struct world w;

    make(&w, 16, 2);
    map_picture_svg(&w.picture, &w.out);
    OK(has_text(&w, "n0: 8 ranks</text>"));
    OK(has_text(&w, ">core 7, processors 7,15</title><rect class=\"shut\""));
    OK(has_text(&w, ">core 0, processors 0,8: rank 0,7</title><rect class=\"a0\""));
    OK(has_text(&w, "; not bound: 15</text>"));
    OK(has_text(&w, ">sol&lt;ver</text>"));
    OK(!has_text(&w, "sol<ver"));
    OK(buf_ok(&w.out));
    drop(&w);
}

/* The second node has one package of two cores. */
static void test_hardware_of_nodes(void)
{
    struct bind_machine small;
    const struct bind_machine *all[2] = { NULL, &small };
    struct world w;

    make(&w, 4, 2);
    small = w.machine;
    small.view.kinds[TOPO_PACKAGE].count = 1;
    small.view.kinds[TOPO_CORE].count = 2;
    small.view.kinds[TOPO_HWTHREAD].count = 4;
    all[0] = &w.machine;
    w.picture.machines = all;
    w.picture.assumed = false;
    map_picture_text(&w.picture, 80, &w.out);
    OK(has_text(&w, "4 ranks on 2 nodes\n"));
    OK(has_text(&w, "n0: 2 ranks; 2 packages, 8 cores, 16 hwthreads\n"));
    OK(has_text(&w, "n1: 2 ranks; 1 package, 2 cores, 4 hwthreads\n"));
    buf_clear(&w.out);
    map_picture_svg(&w.picture, &w.out);
    OK(has_text(&w, "n1: 2 ranks; 1 package, 2 cores, 4 hwthreads"));
    all[1] = &w.machine;
    buf_clear(&w.out);
    map_picture_text(&w.picture, 80, &w.out);
    OK(has_text(&w, "on 2 nodes, each with 2 packages, 8 cores, 16 hwthreads\n"));
    drop(&w);
}

/* Two GPUs, one of which ranks 0 and 2 share; the other one's name is the beginning of another
 * word. */
static void test_devices(void)
{
    static const struct topo_device gpus[] = { { .name = "nvml0", .uuid = "GPU-1" },
                                               { .name = "nvml1", .uuid = "GPU-12" } };
    struct topo_objects *all;
    struct world w;

    make(&w, 4, 1);
    map_picture_text(&w.picture, 80, &w.out);
    OK_F(!has_text(&w, "gpu"), "devices that no rank uses are not drawn");
    all = &w.machine.view.kinds[TOPO_GPU];
    *all = (struct topo_objects){ 2, w.machine.view.kinds[TOPO_PACKAGE].cpus, gpus };
    w.plan.procs[0].devices = w.plan.procs[2].devices = "GPU-12";
    buf_clear(&w.out);
    map_picture_text(&w.picture, 80, &w.out);
    OK(has_text(&w, "\n  gpu         |nvml0: .  |nvml1: 0,2|\n"));
    buf_clear(&w.out);
    map_picture_svg(&w.picture, &w.out);
    OK(has_text(&w, ">gpu nvml1, near processors 4-7,12-15: rank 0,2</title><rect class=\"a0\""));
    OK(has_text(&w, ">gpu nvml0, near processors 0-3,8-11</title><rect class=\"free\""));
    w.plan.procs[1].devices = "nvml0,nvml1";
    buf_clear(&w.out);
    map_picture_text(&w.picture, 80, &w.out);
    OK(has_text(&w, "|nvml0: 1  |nvml1: 0-2|"));
    drop(&w);
}

static int print_picture(char **argv)
{
    struct world w;

    make(&w, (uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]));
    map_picture_svg(&w.picture, &w.out);
    fwrite(buf_slice(&w.out).ptr, 1, buf_len(&w.out), stdout);
    drop(&w);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return print_picture(argv);
    test_text();
    test_narrow();
    test_svg();
    test_hardware_of_nodes();
    test_devices();
    return tap_done();
}
