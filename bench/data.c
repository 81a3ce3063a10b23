/* data.c - how long does libpmix take for values, infos, names: ours and another, in turn.
 *
 *   bench-data OURS OTHER [ROUNDS [CASE]]  paths of two libraries; cases that begin so
 *
 * Prints one line per case: nanoseconds of either and their ratio.  A case runs for two
 * milliseconds with one library, then with the other, and so on; of all rounds the best counts, in
 * processor time: what else the machine does only ever adds to it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data.h"

enum { SAMPLE_NS = 2000000 };

static bool open_library(const char *path, struct data_calls *lib_p)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        fprintf(stderr, "bench-data: %s\n", dlerror());
        return false;
    }
    /* A call that a library does not have stays NULL, and its cases are left out. */
#define CALL(name) lib_p->name = (__typeof__(lib_p->name))dlsym(handle, #name);
    DATA_CALLS(CALL)
#undef CALL
    return true;
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double sample(const struct data_case *c, const struct data_calls *lib, unsigned n)
{
    double start = now_ns();

    c->run(lib, n, c->with);
    return (now_ns() - start) / n;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *samples, size_t n)
{
    qsort(samples, n, sizeof *samples, by_size);
    return n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
}

/* As many times as make one sample. */
static unsigned times_of(const struct data_case *c, const struct data_calls *lib)
{
    unsigned n = 16;

    while (sample(c, lib, n) * n < SAMPLE_NS && n < 1u << 24)
        n *= 2;
    return n;
}

/* Memory as a program has it that has run for a while: holes of all sizes, and something at the
 * end; and a block of a megabyte has come and gone, after which the C library does not give the end
 * of the heap back to the kernel at once. */
enum { BLOCKS = 4096 };
static char *blocks[BLOCKS];

static size_t any_size(unsigned i)
{
    return 1100 + i * 97 % 20000;
}

static void live_in(void)
{
    void *volatile large;

    for (unsigned i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(any_size(i));
    for (unsigned i = 0; i < BLOCKS; i += 2) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
    large = malloc(1 << 20);
    free((void *)large);
}

/* What a large block costs depends on whether a hole of its very size lies ready (a few ns) or one
 * has to be cut and sorted in again, every time (a few microseconds): luck, which stays with a
 * library as long as nothing else moves; so does the alignment of small ones.  So other blocks come
 * and go between the samples, and over the rounds either library has its luck. */
static void live_on(void)
{
    enum { MOVES = 64 };
    static unsigned at = 1;

    for (unsigned i = 0; i < MOVES; i++) {
        at = at * 1664525u + 1013904223u;
        char **block = &blocks[at >> 8 & (BLOCKS - 1)];
        if (*block == NULL) {
            *block = malloc(at & 1u << 19 ? any_size(at >> 20) : 24 + (at >> 20) % 1000);
        } else {
            free(*block);
            *block = NULL;
        }
    }
}

static double compare(const struct data_case *c, const struct data_calls libs[2], unsigned rounds)
{
    double best[2] = { 0, 0 };
    unsigned n[2];

    for (int k = 0; k < 2; k++)
        n[k] = times_of(c, &libs[k]); /* and it is warm now */
    for (unsigned i = 0; i < rounds; i++)
        for (int k = 0; k < 2; k++) {
            double ns;
            live_on();
            ns = sample(c, &libs[k], n[k]);
            best[k] = i == 0 || ns < best[k] ? ns : best[k];
        }
    printf("data %-18s ours_ns=%-10.1f other_ns=%-10.1f ratio=%.2f\n", c->name, best[0], best[1],
           best[1] / best[0]);
    fflush(stdout);
    return best[1] / best[0];
}

/* A library that packs only for a server is made one. */
static bool ready(const struct data_calls *lib)
{
    static pmix_server_module_t module;
    pmix_data_buffer_t buffer = PMIX_DATA_BUFFER_STATIC_INIT;
    int number = 1;
    pmix_status_t rc = lib->PMIx_Data_pack(NULL, &buffer, &number, 1, PMIX_INT);

    free(buffer.base_ptr);
    return rc == PMIX_SUCCESS || lib->PMIx_server_init(&module, NULL, 0) == PMIX_SUCCESS;
}

int main(int argc, char **argv)
{
    const struct data_case *const lists[] = { pack_cases, value_cases };
    struct data_calls libs[2];
    int rounds = argc > 3 ? atoi(argv[3]) : 15;
    const char *only = argc > 4 ? argv[4] : "";
    size_t count = 0;
    double ratios[256];

    if (argc < 3 || rounds < 1) {
        fprintf(stderr, "usage: bench-data OURS OTHER [ROUNDS [CASE]]\n");
        return 2;
    }
    if (!open_library(argv[1], &libs[0]) || !open_library(argv[2], &libs[1]))
        return 1;
    if (!ready(&libs[0]) || !ready(&libs[1])) {
        fprintf(stderr, "bench-data: a library does not pack\n");
        return 1;
    }
    live_in();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct data_case *c = lists[i]; c->name != NULL; c++)
            if (strncmp(c->name, only, strlen(only)) == 0)
                ratios[count++] = compare(c, libs, (unsigned)rounds);
    printf("data median_ratio=%.2f", median(ratios, count));
    printf(" worst_ratio=%.2f cases=%zu\n", ratios[0], count);
    fflush(stdout);
    if (libs[1].PMIx_server_finalize != NULL)
        libs[1].PMIx_server_finalize();
    return 0;
}
