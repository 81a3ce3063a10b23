/* topo_test.c - binding on machines from text descriptions, most of which do not exist here. */
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "topo/bind.h"
#include "topo/places.h"
#include "topo/view_pack.h"

struct bench {
    struct arena arena;
    struct topo_view view;
    struct cpus allowed;
    struct errmsg err;
};

/* 2 sockets, each 1 NUMA node, 4 cores with 2 hwthreads: hwthreads 0-15, core i has 2i and 2i+1. */
#define TWO_SOCKETS "pack:2 [numa] l3:1 core:4 pu:2"

static bool set_up(struct bench *b, const char *machine, const char *allowed)
{
    struct slice rest = slice_str(allowed);

    memset(b, 0, sizeof *b);
    arena_init(&b->arena, 64 << 20);
    if (topo_view_synthetic(&b->arena, machine, &b->view, &b->err) != 0)
        return false;
    b->allowed = cpus_new(&b->arena, b->view.processors);
    for (size_t cpu = 0; !allowed && cpu < b->view.processors; cpu++)
        cpus_add(b->allowed, cpu);
    while (rest.len) {
        uint32_t cpu;
        if (slice_u32(slice_cut(&rest, ','), &cpu))
            cpus_add(b->allowed, cpu);
    }
    return true;
}

/* The seats as one text: "0,1;2,3" */
static void seats_text(struct bench *b, const char *bind, struct bind_order order, struct buf *out)
{
    struct bind_spec spec;
    struct bind_seats seats = { 0 };
    int rc = bind_parse(bind, &spec, &b->err);

    if (rc == 0)
        rc = bind_seats(&b->arena, &spec, &order, &b->view, b->allowed, &seats, &b->err);
    if (rc)
        buf_printf(out, "%d: %s", rc, b->err.text);
    for (uint32_t i = 0; i < seats.count; i++) {
        buf_str(out, i ? ";" : "");
        cpus_list(seats.items[i].cpus, out);
    }
}

static void check_order(const char *machine, const char *allowed, const char *bind,
                        struct bind_order order, const char *expected)
{
    struct bench b;
    struct buf out = BUF_NULL(65536);
    bool same = set_up(&b, machine, allowed);

    if (same) {
        seats_text(&b, bind, order, &out);
        same = slice_is(buf_slice(&out), expected);
    }
    if (!OK_F(same, "%s on '%s' %s", bind, machine, allowed ? allowed : ""))
        printf("# got %s%s\n", buf_cstr(&out), b.err.text);
    buf_free(&out);
    arena_free(&b.arena);
}

static void check(const char *machine, const char *bind, const char *expected)
{
    check_order(machine, NULL, bind, (struct bind_order){ 0 }, expected);
}

static struct bind_order by(enum topo_kind kind, uint32_t width, uint32_t block)
{
    return (struct bind_order){ true, kind, width, block };
}

static void test_objects(void)
{
    check(TWO_SOCKETS, "core", "0-1;2-3;4-5;6-7;8-9;10-11;12-13;14-15");
    check(TWO_SOCKETS, "core:4", "0-7;8-15");
    check(TWO_SOCKETS, "core:3", "0-5;6-11"); /* an incomplete unit is not dealt */
    check(TWO_SOCKETS, "core:8", "0-15");
    check(TWO_SOCKETS, "socket", "0-7;8-15");
    check(TWO_SOCKETS, "package", "0-7;8-15");
    check(TWO_SOCKETS, "numa", "0-7;8-15");
    check(TWO_SOCKETS, "L3Cache", "0-7;8-15");
    check(TWO_SOCKETS, "machine", "0-15");
    check("core:2 pu:1", "hwthread", "0;1");
    check(TWO_SOCKETS, "none", "");
    check("core:3 pu:2", "rr", "0;1;2;3;4;5");
    check("core:3 pu:2", "user:0+1,4,2-3+5", "0-1;4;2-3,5");
}

static void test_order(void)
{
    check_order(TWO_SOCKETS, NULL, "core", by(TOPO_PACKAGE, 1, 0),
                "0-1;8-9;2-3;10-11;4-5;12-13;6-7;14-15");
    check_order(TWO_SOCKETS, NULL, "core:3", by(TOPO_PACKAGE, 1, 0), "0-5;8-13");
    check_order(TWO_SOCKETS, NULL, "hwthread", by(TOPO_CORE, 1, 0),
                "0;2;4;6;8;10;12;14;1;3;5;7;9;11;13;15");
    check_order(TWO_SOCKETS, NULL, "core", by(TOPO_CORE, 2, 0),
                "0-1;4-5;8-9;12-13;2-3;6-7;10-11;14-15");
    check_order(TWO_SOCKETS, NULL, "socket", by(TOPO_CORE, 1, 0),
                "0-7;0-7;0-7;0-7;8-15;8-15;8-15;8-15");
    check_order(TWO_SOCKETS, NULL, "core:2", by(TOPO_CORE, 1, 0),
                "0-3;0-3;4-7;4-7;8-11;8-11;12-15;12-15");
    check_order(TWO_SOCKETS, NULL, "core", by(TOPO_MACHINE, 1, 0),
                "0-1;2-3;4-5;6-7;8-9;10-11;12-13;14-15");
    check_order(TWO_SOCKETS, NULL, "core", by(TOPO_PACKAGE, 1, 2), "0-1;2-3;8-9;10-11");
    check_order("pack:2 core:1 pu:1", NULL, "core", by(TOPO_PACKAGE, 1, 3), "0;0;0;1;1;1");
}

static void test_allowed(void)
{
    check_order(TWO_SOCKETS, "2,3,8", "core", (struct bind_order){ 0 }, "2-3;8");
    check_order(TWO_SOCKETS, "2,3,8", "socket", (struct bind_order){ 0 }, "2-3;8");
    check_order(TWO_SOCKETS, "3", "rr", (struct bind_order){ 0 }, "3");
    check_order(TWO_SOCKETS, "2,3,5,8", "hwthread", by(TOPO_PACKAGE, 1, 0), "2;8;3;5");
    check_order(TWO_SOCKETS, "8", "core", by(TOPO_PACKAGE, 1, 0), "8");
    check_order(TWO_SOCKETS, "1", "user:0", (struct bind_order){ 0 },
                "1: -bind-to user:0: processor 0 is not available to this job");
}

static void test_refusals(void)
{
    check("core:2 pu:1", "core:3", "1: -bind-to core:3: there are only 2 here");
    check("core:2 pu:1", "l4cache",
          "1: this machine has no l4cache that processes could be bound to");
    check("core:2 pu:1", "user:0,7",
          "1: -bind-to user:0,7: processor 7 is not available to this job");
    check("core:2 pu:1", "user:",
          "1: -bind-to user:: it must be none, hwthread, core, l1cache to "
          "l5cache, numa, socket, machine, rr or user:LIST");
    check("core:2 pu:1", "user:1-0", "1: -bind-to user:1-0: '1-0' is not a processor number");
    check("core:2 pu:1", "user:0,", "1: -bind-to user:0,: '' is not a processor number");
    check("core:2 pu:1", "user:4294967295",
          "1: -bind-to user:4294967295: processor 4294967295 is not available to this job");
    check("core:2 pu:1", "user:0-4294967295",
          "1: -bind-to user:0-4294967295: processor 2 is not available to this job");
    check("core:2 pu:1", "core:0", "1: -bind-to core:0: a number of objects must follow ':'");
    check("core:2 pu:1", "gpu0",
          "1: -bind-to gpu0: binding near a device is not available; name "
          "the processors with user:LIST");
    check("core:2 pu:1", "hyper",
          "1: -bind-to hyper: it must be none, hwthread, core, l1cache to "
          "l5cache, numa, socket, machine, rr or user:LIST");
}

/* Places of a rank file: one list for each process. */
static void check_slots(const char *machine, const char *allowed, const char *list,
                        const char *expected)
{
    struct bench b;
    struct bind_spec spec = { .how = BIND_SLOTS, .list = list };
    struct bind_order order = { 0 };
    struct bind_seats seats = { 0 };
    struct buf out = BUF_NULL(65536);
    int rc;

    OK(set_up(&b, machine, allowed));
    rc = bind_seats(&b.arena, &spec, &order, &b.view, b.allowed, &seats, &b.err);
    if (rc)
        buf_printf(&out, "%d: %s", rc, b.err.text);
    for (uint32_t i = 0; i < seats.count; i++) {
        buf_str(&out, i ? ";" : "");
        if (seats.items[i].cpus.bits)
            cpus_list(seats.items[i].cpus, &out);
        else
            buf_str(&out, seats.items[i].text ? "?" : "free");
    }
    if (!OK_F(slice_is(buf_slice(&out), expected), "slot=%s: %s", list, expected))
        printf("# got %s\n", buf_cstr(&out));
    buf_free(&out);
    arena_free(&b.arena);
}

static void test_slots(void)
{
    check_slots(TWO_SOCKETS, NULL, "1:0-2", "8-13");
    check_slots(TWO_SOCKETS, NULL, "3|5-6|*", "6-7;10-13;0-15");
    check_slots(TWO_SOCKETS, NULL, "0:1,1:3|0:0,2", "2-3,14-15;0-1,4-5");
    check_slots(TWO_SOCKETS, NULL, "0:0;1:1|1:*||*:3", "0-1,10-11;8-15;free;6-7,14-15");
    check_slots(TWO_SOCKETS, "2,3,8", "0:*|4", "2-3;8");
    check_slots("core:2 pu:1", NULL, "0:1|1", "1;1");
    check_slots(TWO_SOCKETS, "2,3,8", "0:0", "1: slot=0:0: core 0 is not available to this job");
    check_slots(TWO_SOCKETS, "2,3", "1:*",
                "1: slot=1:*: none of its processors is available to this job");
    check_slots(TWO_SOCKETS, NULL, "1:3-4",
                "1: slot=1:3-4: there is no core 4 in that package, only 4");
    check_slots(TWO_SOCKETS, NULL, "8", "1: slot=8: there is no core 8, only 8");
    check_slots(TWO_SOCKETS, NULL, "2:0", "1: slot=2:0: there is no package 2, only 2");
    check_slots("core:2 pu:1", NULL, "x",
                "1: 'x' is not a place for a rank; examples: 1:0-2 (cores 0 to 2 of package 1), 3 "
                "(a core of the node), * (all cores)");
}

static void test_texts(void)
{
    struct bench b;
    struct bind_spec spec;
    struct bind_order order = { 0 };
    struct bind_seats seats;

    OK(set_up(&b, TWO_SOCKETS, NULL));
    bind_parse("core", &spec, &b.err);
    EQ(bind_seats(&b.arena, &spec, &order, &b.view, b.allowed, &seats, &b.err), 0);
    OK(strcmp(seats.items[3].text, "core 3, hwthreads 6-7") == 0);
    bind_parse("core:2", &spec, &b.err);
    EQ(bind_seats(&b.arena, &spec, &order, &b.view, b.allowed, &seats, &b.err), 0);
    OK(strcmp(seats.items[1].text, "cores 2-3, hwthreads 4-7") == 0);
    bind_parse("hwthread", &spec, &b.err);
    EQ(bind_seats(&b.arena, &spec, &order, &b.view, b.allowed, &seats, &b.err), 0);
    OK(strcmp(seats.items[9].text, "hwthread 9") == 0);
    EQ(bind_objects(&b.view, TOPO_PACKAGE, b.allowed), 2);
    EQ(bind_objects(&b.view, TOPO_L5, b.allowed), 0);
    arena_free(&b.arena);
    OK(!set_up(&b, "core:0", NULL) && strstr(b.err.text, "core:0"));
    arena_free(&b.arena);
}

/* A machine of 2048 hwthreads, and processors beyond one word and beyond cpu_set_t. */
static void test_large(void)
{
    struct bench b;
    struct buf out = BUF_NULL(1 << 20);

    OK(set_up(&b, "pack:16 core:64 pu:2", NULL));
    EQ((int64_t)b.view.processors, 2048);
    seats_text(&b, "core", by(TOPO_PACKAGE, 1, 0), &out);
    OK(slice_starts(buf_slice(&out), SLICE("0-1;128-129;256-257;")));
    arena_free(&b.arena);
    buf_free(&out);
}

static void test_here(void)
{
    struct bench b = { 0 };

    arena_init(&b.arena, 64 << 20);
    EQ(topo_view_machine(&b.arena, &b.view, &b.err), 0);
    EQ(cpus_allowed(&b.arena, &b.allowed), 0);
    OK(cpus_count(b.allowed) > 0);
    OK(bind_objects(&b.view, TOPO_HWTHREAD, b.allowed) == cpus_count(b.allowed));
    EQ(bind_objects(&b.view, TOPO_MACHINE, b.allowed), 1);
    arena_free(&b.arena);
}

/* ---- encoded machines ---- */

static bool same_set(struct cpus a, struct cpus b)
{
    return cpus_within(a, b) && cpus_within(b, a);
}

static bool same_machine(const struct bind_machine *a, const struct bind_machine *b)
{
    bool same = a->view.processors == b->view.processors && same_set(a->allowed, b->allowed);

    for (int k = 0; k < TOPO_KIND_COUNT && same; k++) {
        const struct topo_objects *x = &a->view.kinds[k], *y = &b->view.kinds[k];
        same = x->count == y->count;
        for (uint32_t i = 0; i < x->count && same; i++)
            same = same_set(x->cpus[i], y->cpus[i]);
    }
    return same;
}

/* Cuts and changed bytes do no harm. */
static void spoil(struct slice bytes)
{
    size_t refused = 0;

    for (size_t n = 0; n < bytes.len; n++) {
        struct arena a = ARENA_NULL(64 << 20);
        struct bind_machine m;
        struct errmsg err;
        char *cut = malloc(n + 1), *changed = malloc(bytes.len);
        memcpy(cut, bytes.ptr, n);
        memcpy(changed, bytes.ptr, bytes.len);
        changed[n] = (char)(changed[n] ^ 0x55);
        refused += view_unpack(&a, slice_mem(cut, n), &m, &err) == 1;
        view_unpack(&a, slice_mem(changed, bytes.len), &m, &err);
        free(cut);
        free(changed);
        arena_free(&a);
    }
    OK_F(refused == bytes.len, "%zu of %zu cuts are refused", refused, bytes.len);
}

static void test_travel(const char *machine, const char *allowed)
{
    struct bench b;
    struct bind_machine m, back;
    struct buf bytes = BUF_NULL(1 << 20);

    OK(set_up(&b, machine, allowed));
    m = (struct bind_machine){ b.view, b.allowed, true };
    view_pack(&m, &bytes);
    OK(buf_ok(&bytes) && view_unpack(&b.arena, buf_slice(&bytes), &back, &b.err) == 0);
    OK_F(back.looked && same_machine(&m, &back), "'%s' has travelled", machine);
    spoil(buf_slice(&bytes));
    buf_free(&bytes);
    arena_free(&b.arena);
}

/* Processes of a node that are bound know where they are. */
static void check_bound(const char *bind, uint32_t n, const char *cpuset, const char *locality,
                        uint32_t package_rank)
{
    struct bench b;
    struct bind_spec spec;
    struct bind_order none = { 0 };
    const struct job_map_binding *bound = NULL;
    struct job_map_node node = { .name = "n", .nprocs = n, .bindings = &bound };
    struct job_map_proc procs[4];
    struct job_map_app app = { .nprocs = n };
    struct job_map p = { .nodes = &node,
                         .procs = procs,
                         .apps = &app,
                         .napps = 1,
                         .nnodes = 1,
                         .nprocs = n,
                         .nplacements = 1 };
    struct bind_machine m;
    const struct job_map_proc *last = &procs[n - 1];

    OK(set_up(&b, TWO_SOCKETS, NULL) && bind_parse(bind, &spec, &b.err) == 0);
    arena_init(&p.arena, 64 << 20);
    memset(procs, 0, sizeof procs);
    for (uint32_t i = 0; i < n; i++)
        procs[i] = (struct job_map_proc){ .rank = i, .local_rank = i };
    bound = plan_binding_new(&p.arena, &spec, &none);
    m = (struct bind_machine){ b.view, b.allowed, true };
    OK(bound && plan_bind(&p, 0, &m, &b.err) == 0 && last->place);
    OK_F(!strcmp(last->place->cpuset, cpuset) && !strcmp(last->place->locality, locality) &&
             last->package_rank == package_rank,
         "%s: %s, %s, %u", bind, last->place->cpuset, last->place->locality, last->package_rank);
    arena_free(&p.arena);
    arena_free(&b.arena);
}

static void test_bound(void)
{
    check_bound("core", 3, "4-5", "SK0:L30:CR2:HT4-5:NM0", 2);
    check_bound("package", 4, "8-15", "SK1:L31:CR4-7:HT8-15:NM1", 1);
    check_bound("user:0,2+9", 2, "2,9", "SK0-1:L30-1:CR1,4:HT2,9:NM0-1", 1);
}

static void test_places(void)
{
    static const uint32_t expected[] = { 0, 0, 1, 1, 0, 1 };
    struct bench b;
    struct bind_spec spec = { .how = BIND_USER, .width = 1, .list = "0,2,8,9,0-15,0-15" };
    struct bind_order none = { 0 };
    struct bind_seats seats;
    uint32_t place[6];

    OK(set_up(&b, TWO_SOCKETS, NULL));
    OK(bind_seats(&b.arena, &spec, &none, &b.view, b.allowed, &seats, &b.err) == 0);
    OK(places_find(&b.view.kinds[TOPO_PACKAGE], b.allowed, &seats, 6, place) == 0);
    OK_F(memcmp(place, expected, sizeof place) == 0, "who could be on both is where fewer are");
    arena_free(&b.arena);
}

int main(void)
{
    test_travel(TWO_SOCKETS, NULL);
    test_travel(TWO_SOCKETS, "2,3,8");
    test_travel("core:1 pu:1", NULL);
    test_places();
    test_bound();
    test_objects();
    test_order();
    test_allowed();
    test_refusals();
    test_slots();
    test_texts();
    test_large();
    test_here();
    return tap_done();
}
