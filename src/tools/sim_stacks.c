/* sim_stacks.c - see sim_stacks.h. */
#include "tools/sim_stacks.h"

#include <stdlib.h>

#include "base/clock.h"
#include "report/stack_tree.h"
#include "wire/parts.h"

enum {
    CALLS = 24,        /* of a stack */
    PROCESSORS = 16,   /* of a node: so many stacks are taken at a time */
    BARRIER_EACH = 16, /* one rank of so many is in the barrier */
    TEXT_MAX = 256 << 20
};

/* eu-stack for one process, measured (docs/design/seeing.md). */
#define STACK_NS (8 * NS_PER_MS)

bool sim_stacks_init(struct sim_stacks *t, uint32_t nodes, uint32_t ranks)
{
    *t = (struct sim_stacks){ .nodes = nodes, .ranks = ranks };
    t->parts = calloc(nodes ? nodes : 1, sizeof *t->parts);
    for (uint32_t i = 0; t->parts && i < nodes; i++)
        buf_init(&t->parts[i], TEXT_MAX);
    return t->parts != NULL;
}

void sim_stacks_free(struct sim_stacks *t)
{
    for (uint32_t i = 0; t->parts && i < t->nodes; i++)
        buf_free(&t->parts[i]);
    free(t->parts);
    t->parts = NULL;
}

static uint32_t odd_rank(const struct sim_stacks *t)
{
    return t->nodes * t->ranks / 3;
}

static void put_stack(const struct sim_stacks *t, uint32_t rank, struct buf *out)
{
    bool odd = rank == odd_rank(t), barrier = rank % BARRIER_EACH == 0;

    if (!odd)
        buf_printf(out, "%s\n",
                   barrier ? "poll@libc.so.6\nMPIDI_Progress@libmpi.so.12\nMPI_Barrier@libmpi.so.12"
                           : "poll@libc.so.6\nMPIDI_Progress@libmpi.so.12\nMPI_Recv@libmpi.so.12");
    for (uint32_t i = CALLS; i > 0; i--)
        buf_printf(out, "%s_%u\n",
                   odd       ? "compute_cell"
                   : barrier ? "close_step"
                             : "exchange_halo",
                   i);
    buf_str(out, "main\n");
}

/* In the form of daemon/stacks.h. */
static void answer(void *arg, uint32_t node, struct buf *part)
{
    const struct sim_stacks *t = arg;
    struct buf stack = BUF_NULL(1 << 16);

    for (uint32_t i = 0; i < t->ranks; i++) {
        uint32_t rank = node * t->ranks + i;
        buf_clear(&stack);
        put_stack(t, rank, &stack);
        parts_put_uint(part, 1); /* the job's number, and 1 */
        parts_put_uint(part, rank);
        parts_put_uint(part, buf_len(&stack));
        buf_slice_put(part, buf_slice(&stack));
    }
    parts_put_uint(part, 0);
    buf_free(&stack);
}

static void take(void *arg, uint32_t node, struct slice part)
{
    struct sim_stacks *t = arg;

    if (node < t->nodes)
        buf_slice_put(&t->parts[node], part);
}

struct sim_inquiry sim_stacks_inquiry(struct sim_stacks *t)
{
    uint32_t turns = (t->ranks + PROCESSORS - 1) / PROCESSORS;

    return (struct sim_inquiry){
        .work_ns = turns * STACK_NS, .answer = answer, .part = take, .arg = t
    };
}

static bool add_part(struct sim_stacks *t, struct stack_tree *tree, struct arena *texts,
                     struct slice part)
{
    struct slice text;
    uint64_t job;
    uint32_t rank;

    while (parts_get_uint(&part, &job) && job != 0) {
        const char *stack;
        if (!parts_get_u32(&part, &rank) || !parts_get_bytes(&part, &text))
            return false;
        stack = arena_str(texts, text);
        if (!stack)
            return false;
        stack_tree_add(tree, rank, stack);
        t->merged++;
    }
    return true;
}

bool sim_stacks_merge(struct sim_stacks *t)
{
    uint64_t begun = clock_now_ns();
    struct arena texts = ARENA_NULL(TEXT_MAX);
    struct buf out = BUF_NULL(TEXT_MAX);
    struct stack_tree tree;
    bool good = true;

    stack_tree_init(&tree);
    for (uint32_t i = 0; good && i < t->nodes; i++)
        good = add_part(t, &tree, &texts, buf_slice(&t->parts[i]));
    stack_tree_sort(&tree);
    stack_tree_text(&tree, 4, &out);
    good = good && buf_ok(&out) && !tree.arena.failed;
    t->groups = tree.ngroups;
    if (tree.ngroups && tree.groups[0].n)
        t->odd = tree.groups[0].ranks[0];
    stack_tree_free(&tree);
    arena_free(&texts);
    buf_free(&out);
    t->merge_ns = clock_now_ns() - begun;
    return good;
}
