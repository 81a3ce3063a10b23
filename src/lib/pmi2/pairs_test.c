/* pairs_test.c - both forms of the lists of PMI2_Job_Spawn are recognized, and unreadable memory
 * is never touched. */
#include "lib/pmi2/pairs.h"

#include <pmi2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/tap.h"

enum { N = 5 };

struct mpich_pair {
    const char *key, *val;
};

static const char *const keys[N] = { "PARENT_ROOT_PORT_NAME", "k", "wdir", "path", "a/b.c" };
static const char *const values[N] = { "tag#0$host#h 1", "", "/tmp", "x=y; z", "1" };

/* Memory that ends at the end of a page, after which nothing can be read. */
static void *at_the_edge(size_t bytes)
{
    char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (two == MAP_FAILED || mprotect(two + 4096, 4096, PROT_NONE) < 0)
        abort();
    return two + 4096 - bytes;
}

static char *text_at_the_edge(const char *text)
{
    return strcpy(at_the_edge(strlen(text) + 1), text);
}

static bool holds(const void *list, int n, bool by_pointer, enum pairs_form form)
{
    bool good = pairs_form_of(list, n, by_pointer) == form;

    for (int i = 0; good && i < n; i++) {
        struct spawn_pair_text p = pairs_get(list, i, by_pointer, form);
        good = !strcmp(p.key, keys[i]) && !strcmp(p.value, values[i]);
    }
    return good;
}

/* Members that a caller has not set hold stack garbage. */
static void fill(struct MPID_Info *info, int i, int garbage)
{
    memset(info, garbage, sizeof *info);
    info->key = (char *)(uintptr_t)keys[i];
    info->value = (char *)(uintptr_t)values[i];
}

static void test_slurms(int n, int garbage)
{
    struct MPID_Info *infos = at_the_edge((size_t)n * sizeof *infos);
    const struct MPID_Info **pointers = at_the_edge((size_t)n * sizeof *pointers);

    for (int i = 0; i < n; i++) {
        fill(&infos[i], i, garbage);
        pointers[i] = &infos[i];
    }
    OK_F(holds(infos, n, false, PAIRS_SLURM), "%d infos of Slurm's form", n);
    OK_F(holds(pointers, n, true, PAIRS_SLURM), "%d pre-puts of Slurm's form", n);
}

static void test_mpichs(int n)
{
    struct mpich_pair *pairs = at_the_edge((size_t)n * sizeof *pairs);

    for (int i = 0; i < n; i++)
        pairs[i] = (struct mpich_pair){ text_at_the_edge(keys[i]), text_at_the_edge(values[i]) };
    OK_F(holds(pairs, n, false, PAIRS_MPICH), "%d infos of MPICH's form", n);
    OK_F(holds(pairs, n, true, PAIRS_MPICH), "%d pre-puts of MPICH's form", n);
}

/* The strings are on the heap, one after the other. */
static void test_heap(void)
{
    struct mpich_pair *pairs = malloc(N * sizeof *pairs);

    for (int i = 0; i < N; i++)
        pairs[i] = (struct mpich_pair){ strdup(keys[i]), strdup(values[i]) };
    for (int n = 1; n <= N; n++)
        OK_F(holds(pairs, n, true, PAIRS_MPICH), "%d pre-puts of MPICH's form on the heap", n);
    for (int i = 0; i < N; i++) {
        free((char *)(uintptr_t)pairs[i].key);
        free((char *)(uintptr_t)pairs[i].val);
    }
    free(pairs);
}

/* A table of which only the first elements are meant. */
static void test_table(void)
{
    static const struct mpich_pair table[] = { { "PARENT_ROOT_PORT_NAME", "tag#0$host#h 1" },
                                               { "k", "" },
                                               { "wdir", "/tmp" },
                                               { "path", "x=y; z" },
                                               { "a/b.c", "1" },
                                               { "more", "of it" },
                                               { "and", "more" },
                                               { "and", "more" },
                                               { "and", "more" },
                                               { "and", "more" },
                                               { "and", "more" },
                                               { "and", "more" },
                                               { "and", "more" } };

    for (int n = 1; n <= N; n++)
        OK_F(holds(table, n, false, PAIRS_MPICH), "the first %d infos of a table", n);
}

static const void *pair_at_the_edge(const char *key, const char *value)
{
    struct mpich_pair *pair = at_the_edge(sizeof *pair);

    *pair = (struct mpich_pair){ key, value };
    return pair;
}

static void test_neither(void)
{
    struct mpich_pair *odd = at_the_edge(2 * sizeof *odd);
    const void *blank = pair_at_the_edge("", "value");
    const void *wild = pair_at_the_edge((const char *)(uintptr_t)0x1000, "value");
    uintptr_t numbers[] = { 1, 2, 3, 4, UINTPTR_MAX, UINTPTR_MAX / 2 };
    char *endless = at_the_edge(8);
    const void *open_end = pair_at_the_edge(endless, "value");

    odd[0] = (struct mpich_pair){ "key", "value" };
    odd[1] = (struct mpich_pair){ NULL, "value" };
    memset(endless, 'x', 8);
    for (int by_pointer = 0; by_pointer < 2; by_pointer++) {
        OK(pairs_form_of(odd, 2, by_pointer) == PAIRS_UNKNOWN);
        OK(pairs_form_of(blank, 1, by_pointer) == PAIRS_UNKNOWN);
        OK(pairs_form_of(wild, 1, by_pointer) == PAIRS_UNKNOWN);
        OK(pairs_form_of(numbers, 3, by_pointer) == PAIRS_UNKNOWN);
        OK(pairs_form_of(open_end, 1, by_pointer) == PAIRS_UNKNOWN);
        OK(pairs_form_of(at_the_edge(0), 1, by_pointer) == PAIRS_UNKNOWN);
        OK(pairs_form_of(NULL, 1, by_pointer) == PAIRS_UNKNOWN);
        OK(pairs_form_of(NULL, 0, by_pointer) == PAIRS_SLURM);
    }
}

int main(void)
{
    for (int n = 1; n <= N; n++) {
        test_slurms(n, 0);
        test_slurms(n, 0xff);
        test_slurms(n, 'a');
        test_mpichs(n);
    }
    test_heap();
    test_table();
    test_neither();
    return tap_done();
}
