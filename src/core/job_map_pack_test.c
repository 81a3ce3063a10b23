/* job_map_pack_test.c - a plan packed and unpacked is the same plan; wrong bytes are no plan. */
#include "core/job_map_pack.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { RANKS = 12, NODES = 3 };

/* Two programs, the first dealt by node, the second by slot. */
static void sample(struct job_map *p)
{
    static char *first[] = { (char *)"a.out", (char *)"x y", NULL },
                *second[] = { (char *)"b", NULL };
    static char *env[] = { (char *)"A=1", (char *)"B=", NULL };
    static const uint32_t turns[] = { 0, 2, 1, 3 };
    static const struct job_map_binding binding = { .how = 2,
                                                    .width = 3,
                                                    .list = "0+1",
                                                    .order_block = 9,
                                                    .turns = turns,
                                                    .nturns = 4 },
                                        plain = { .how = 1, .width = 1 };
    static const struct job_map_binding *first_node[] = { &plain, NULL },
                                        *others[] = { &binding, &plain };
    uint32_t local[NODES] = { 0 };

    job_map_init(p);
    p->napps = 2;
    p->nnodes = NODES;
    p->nprocs = RANKS;
    p->nplacements = 2;
    p->universe = 24;
    p->path_only = true;
    p->words[JOB_MAP_BY] = "ppr:2:node";
    p->words[JOB_CLUSTER] = "hill";
    p->apps = arena_array(&p->arena, 2, sizeof *p->apps);
    p->nodes = arena_array(&p->arena, NODES, sizeof *p->nodes);
    p->procs = arena_array(&p->arena, RANKS, sizeof *p->procs);
    p->apps[0] = (struct job_map_app){
        .argv = first, .argc = 2, .path = "/bin/a.out", .wdir = "/tmp", .env = env, .nprocs = 6
    };
    p->apps[1] = (struct job_map_app){ .argv = second,
                                       .argc = 1,
                                       .path = "/b",
                                       .env = env,
                                       .nprocs = 6,
                                       .first_rank = 6,
                                       .placement = 1 };
    for (uint32_t n = 0; n < NODES; n++)
        p->nodes[n] =
            (struct job_map_node){ n == 1 ? "bee" : "node", 8, 4, n ? others : first_node };
    for (uint32_t r = 0; r < RANKS; r++) {
        uint32_t node = r < 6 ? r % NODES : (r - 6) / 2;
        p->procs[r] = (struct job_map_proc){
            .rank = r, .app = r / 6, .node = node, .local_rank = local[node]++
        };
    }
    p->breakpoint = "here";
    p->apps[1].pset = "set";
    p->apps[1].restarts = 3;
    p->output.raw = p->output.xml = true;
    p->apps[1].flags = JOB_MAP_APP_INDEX;
    p->apps[1].pmi = JOB_MAP_PMI_X;
    p->target = "all:there";
    p->procs[0].stops = p->procs[1].stops = 1;
    p->procs[2].stops = 6;
    p->procs[11].stops = 1;
}

static bool same_ranks(const struct job_map *a, const struct job_map *b)
{
    for (uint32_t r = 0; r < a->nprocs; r++) {
        const struct job_map_proc *p = &a->procs[r], *q = &b->procs[r];
        if (p->rank != q->rank || p->app != q->app || p->node != q->node ||
            p->local_rank != q->local_rank || p->stops != q->stops)
            return false;
    }
    return true;
}

static void round_trip(void)
{
    struct buf bytes = BUF_NULL(1 << 20);
    struct job_map p, q;
    struct errmsg err;

    sample(&p);
    job_map_pack(&p, &bytes);
    OK(buf_ok(&bytes));
    OK(job_map_unpack(buf_slice(&bytes), &q, &err) == 0);
    OK(q.napps == 2 && q.nnodes == NODES && q.nprocs == RANKS && q.universe == 24 && q.path_only);
    OK(same_ranks(&p, &q));
    OK(!strcmp(q.words[JOB_MAP_BY], "ppr:2:node") && !strcmp(q.words[JOB_CLUSTER], "hill"));
    OK(q.breakpoint && !strcmp(q.breakpoint, "here") && !strcmp(q.target, "all:there"));
    OK(!q.apps[0].pset && q.apps[1].pset && !strcmp(q.apps[1].pset, "set"));
    OK(!q.apps[0].restarts && q.apps[1].restarts == 3 && q.output.raw && !q.output.merged);
    OK(q.output.xml && !q.output.timed);
    OK(q.apps[0].pmi == JOB_MAP_PMI_AUTO && q.apps[1].pmi == JOB_MAP_PMI_X);
    OK(q.apps[0].flags == 0 && q.apps[1].flags == JOB_MAP_APP_INDEX);
    OK(!q.words[JOB_RANK_BY] && !q.words[JOB_BIND_TO]);
    OK(!strcmp(q.apps[0].argv[1], "x y") && !q.apps[0].argv[2] && !strcmp(q.apps[0].wdir, "/tmp"));
    OK(!q.apps[1].wdir && !strcmp(q.apps[1].path, "/b") && q.apps[1].first_rank == 6);
    OK_F(q.apps[1].env == q.apps[0].env, "an environment that two programs share stays one");
    OK(!strcmp(q.apps[0].env[1], "B=") && !q.apps[0].env[2]);
    OK(!strcmp(q.nodes[1].name, "bee") && q.nodes[1].nprocs == 4 && q.nodes[1].slots == 8);
    OK(q.nodes[0].bindings[0] && !q.nodes[0].bindings[0]->nturns && q.nodes[1].bindings[0] &&
       q.nodes[1].bindings[0] == q.nodes[2].bindings[0]);
    OK(q.nodes[1].bindings[0]->how == 2 && q.nodes[1].bindings[0]->order_block == 9 &&
       !strcmp(q.nodes[1].bindings[0]->list, "0+1"));
    OK(q.nodes[1].bindings[0]->nturns == 4 && q.nodes[1].bindings[0]->turns[1] == 2 &&
       q.nodes[1].bindings[0]->turns[3] == 3);
    OK(q.nplacements == 2 && q.apps[0].placement == 0 && q.apps[1].placement == 1);
    OK(!q.nodes[0].bindings[1] && q.nodes[1].bindings[1] && q.nodes[1].bindings[1]->how == 1 &&
       q.nodes[1].bindings[1] == q.nodes[2].bindings[1]);
    job_map_free(&q);
    job_map_free(&p);
    buf_free(&bytes);
}

static void refusals(void)
{
    struct buf bytes = BUF_NULL(1 << 20);
    struct job_map p, q;
    struct errmsg err;
    size_t refused = 0, whole;

    sample(&p);
    job_map_pack(&p, &bytes);
    whole = buf_len(&bytes);
    for (size_t n = 0; n < whole; n++) {
        char *copy = malloc(n + 1);
        memcpy(copy, buf_slice(&bytes).ptr, n);
        refused += job_map_unpack(slice_mem(copy, n), &q, &err) == 1;
        job_map_free(&q);
        free(copy);
    }
    OK_F(refused > whole / 2, "%zu of %zu cuts are seen", refused, whole);
    for (size_t i = 0; i < whole; i++) { /* no changed byte does harm */
        char *copy = malloc(whole);
        memcpy(copy, buf_slice(&bytes).ptr, whole);
        copy[i] = (char)(copy[i] ^ 0x55);
        job_map_unpack(slice_mem(copy, whole), &q, &err);
        job_map_free(&q);
        free(copy);
    }
    job_map_free(&p);
    buf_free(&bytes);
}

int main(void)
{
    round_trip();
    refusals();
    return tap_done();
}
