/* stack_tree_test.c - the stacks of many processes as one tree, and the groups of ranks. */
#include "report/stack_tree.h"

#include <stdio.h>
#include <string.h>

#include "tests/tap.h"

static const char in_barrier[] =
    "@libuct.so\nucp_progress@libucp.so\nPMPI_Barrier@libmpich.so\nmain\n"
    "__libc_start_call_main@libc.so\n_start\n";
static const char elsewhere_in_it[] = "@libmpich.so\nPMPI_Barrier@libmpich.so\nmain\n_start\n";
static const char spins[] = "spin\nmain\n__libc_start_call_main@libc.so\n?\n";
static const char sleeps[] = "__pause@libc.so\nwork\nmain\n";
/* glibc 2.41, stripped */
static const char sleeps_too[] = "@libc.so\n@libc.so\n__pause@libc.so\nwork\nmain\n@libc.so\n__"
                                 "libc_start_main@libc.so\n_start\n";

static void is_text(const struct stack_tree *t, const char *want)
{
    struct buf out = BUF_NULL(1 << 16);
    const char *got;

    stack_tree_text(t, 2, &out);
    got = buf_cstr(&out);
    if (!OK_F(got && !strcmp(got, want), "%.50s", want))
        printf("# got: %s\n", got ? got : "");
    buf_free(&out);
}

static bool is_group(const struct stack_tree *t, uint32_t at, const char *call, const char *caller,
                     const char *ranks)
{
    struct buf out = BUF_NULL(1 << 10);
    bool same;

    if (at >= t->ngroups)
        return false;
    stack_ranks(t->groups[at].ranks, t->groups[at].n, &out);
    same = slice_is(t->groups[at].place.call, call) &&
           slice_is(t->groups[at].place.caller, caller) && slice_is(buf_slice(&out), ranks);
    buf_free(&out);
    return same;
}

/* What MPI does inside changes, and makes no groups of its own. */
static void test_outliers(void)
{
    struct stack_tree t;

    stack_tree_init(&t);
    for (uint32_t r = 0; r < 100; r++)
        stack_tree_add(&t, r,
                       r == 7    ? spins
                       : r == 50 ? sleeps
                       : r == 51 ? sleeps_too
                       : r % 2   ? in_barrier
                                 : elsewhere_in_it);
    stack_tree_sort(&t);
    is_text(
        &t,
        "  0-99: main\n    7: spin\n    50-51: work > __pause\n    0-6,8-49,52-99: MPI_Barrier\n");
    EQ(t.ngroups, 3u);
    OK(is_group(&t, 0, "spin", "", "7"));
    OK(is_group(&t, 1, "__pause", "work", "50-51"));
    OK(is_group(&t, 2, "MPI_Barrier", "main", "0-6,8-49,52-99"));
    stack_tree_free(&t);
}

/* Among as many, those that compute come before those that wait for them. */
static void test_two(void)
{
    struct stack_tree t;

    stack_tree_init(&t);
    stack_tree_add(&t, 0, in_barrier);
    stack_tree_add(&t, 1, spins);
    stack_tree_sort(&t);
    is_text(&t, "  0-1: main\n    1: spin\n    0: MPI_Barrier\n");
    OK(is_group(&t, 0, "spin", "", "1"));
    stack_tree_free(&t);
}

static void test_json(void)
{
    struct buf out = BUF_NULL(1 << 16), scratch = BUF_NULL(1 << 10);
    struct stack_tree t;
    struct json j;

    stack_tree_init(&t);
    stack_tree_add(&t, 3, "PMPI_Barrier@libmpich.so\nmain\n");
    stack_tree_sort(&t);
    json_init(&j, &out);
    json_array(&j, NULL);
    stack_tree_json(&t, &j, &scratch);
    json_array_end(&j);
    json_done(&j);
    OK(slice_is(buf_slice(&out),
                "[{\"call\":\"main\",\"library\":\"\",\"ranks\":\"3\",\"calls\":[{\"call\":"
                "\"PMPI_Barrier\",\"library\":\"libmpich.so\",\"ranks\":\"3\",\"calls\":[]}]}]"));
    buf_free(&out);
    buf_free(&scratch);
    stack_tree_free(&t);
}

/* A stack that never ends, and nothing at all. */
static void test_deep(void)
{
    struct buf deep = BUF_NULL(1 << 20), out = BUF_NULL(1 << 20);
    struct stack_tree t;

    for (int i = 0; i < 1000; i++)
        buf_str(&deep, "again\n");
    stack_tree_init(&t);
    stack_tree_add(&t, 0, buf_cstr(&deep));
    stack_tree_add(&t, 1, "");
    stack_tree_add(&t, 2, "\x1b[2J\n");
    stack_tree_sort(&t);
    stack_tree_text(&t, 0, &out);
    EQ(t.top.n, 2u);
    OK_F(memchr(buf_slice(&out).ptr, '\x1b', buf_len(&out)) == NULL,
         "no commands for the terminal");
    EQ(buf_len(&out),
       strlen("0: ") + STACK_CALLS_MAX * strlen("again > ") - 3 + 1 + strlen("2: \\x1b[2J\n"));
    stack_tree_free(&t);
    buf_free(&deep);
    buf_free(&out);
}

int main(void)
{
    test_outliers();
    test_two();
    test_json();
    test_deep();
    return tap_done();
}
