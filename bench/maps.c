/* maps.c - how long do the maps of the largest machines take: 1,048,576 ranks on 16,384 nodes.
 *
 *   bench-maps [OTHER [ROUNDS]]     path of another libpmix
 *
 * The lists of nodes and of ranks become short forms (PMIx_generate_regex, PMIx_generate_ppn), the
 * short forms are read again, and must be the lists that they came from.  Processor time, the best
 * of the rounds; the other library, which takes long, has one; for
 * ranks that are dealt round it takes minutes, and is not asked.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limit.h"
#include "lib/pmix/api/regex.h"
#include "pmix_server.h"

enum { NODES = 16384, EACH = 64 };

typedef pmix_status_t writer(const char *input, char **regex);

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void names(struct buf *b)
{
    for (unsigned i = 0; i < NODES; i++)
        buf_printf(b, "%snid%06u", i ? "," : "", i + 1);
}

/* By blocks, or dealt round. */
static void ranks(struct buf *b, bool dealt)
{
    for (unsigned i = 0; i < NODES; i++)
        for (unsigned k = 0; k < EACH; k++) {
            if (i || k)
                buf_byte(b, k ? ',' : ';');
            buf_u64(b, dealt ? k * NODES + i : i * EACH + k);
        }
}

/* Reads a short form, and says whether it is that of the list; the time is that of reading alone.
 */
static bool read_back(bool nodes, const char *regex, const char *input, double *best_p)
{
    struct arena a;
    struct regex_nodes n;
    struct regex_ranks r;
    struct buf again = BUF_NULL(1u << 26);
    double start;
    bool good;

    arena_init(&a, LIMIT_MAP_MEMORY);
    start = now_ms();
    good = (nodes ? regex_read_nodes(&a, slice_str(regex), &n)
                  : regex_read_ranks(&a, slice_str(regex), &r)) == 0;
    start = now_ms() - start;
    if (start < *best_p)
        *best_p = start;
    if (good && nodes)
        regex_nodes_text(&again, &n);
    else if (good)
        regex_ranks_text(&again, &r);
    good = good && slice_is(buf_slice(&again), input);
    buf_free(&again);
    arena_free(&a);
    return good;
}

static double write_once(writer *write, const char *input, char **regex)
{
    double start = now_ms();

    if (write(input, regex) != PMIX_SUCCESS)
        return -1;
    return now_ms() - start;
}

static bool measure(const char *name, bool nodes, const char *input, writer *other, int rounds)
{
    double best_write = 1e9, best_read = 1e9, theirs = 0;
    bool good = true;
    char *regex;

    for (int i = 0; i < rounds && good; i++) {
        double ms = write_once(nodes ? PMIx_generate_regex : PMIx_generate_ppn, input, &regex);
        good = ms >= 0 && read_back(nodes, regex, input, &best_read);
        if (ms < best_write)
            best_write = ms;
        free(regex);
    }
    printf("maps %-14s write_ms=%-8.2f read_ms=%-8.2f", name, best_write, best_read);
    if (other) {
        theirs = write_once(other, input, &regex);
        printf(" other_write_ms=%-8.2f ratio=%.0f", theirs, theirs / best_write);
        free(regex);
    }
    printf("%s\n", good ? "" : " WRONG");
    fflush(stdout);
    return good;
}

/* The other library writes only for a server. */
static bool open_other(const char *path, writer **regex_p, writer **ppn_p)
{
    static pmix_server_module_t module;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    __typeof__(PMIx_server_init) *init;

    if (!handle)
        return false;
    *(void **)&init = dlsym(handle, "PMIx_server_init");
    *(void **)regex_p = dlsym(handle, "PMIx_generate_regex");
    *(void **)ppn_p = dlsym(handle, "PMIx_generate_ppn");
    return init && *regex_p && *ppn_p && init(&module, NULL, 0) == PMIX_SUCCESS;
}

int main(int argc, char **argv)
{
    writer *regex = NULL, *ppn = NULL;
    struct buf b = BUF_NULL(1u << 26);
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    bool good;

    if (argc > 1 && !open_other(argv[1], &regex, &ppn)) {
        fprintf(stderr, "bench-maps: %s does not serve\n", argv[1]);
        return 1;
    }
    names(&b);
    good = measure("nodes", true, buf_cstr(&b), regex, rounds);
    for (int dealt = 0; dealt < 2; dealt++) {
        buf_clear(&b);
        ranks(&b, dealt);
        good &= measure(dealt ? "ranks_dealt" : "ranks_blocks", false, buf_cstr(&b),
                        dealt ? NULL : ppn, rounds);
    }
    buf_free(&b);
    return good ? 0 : 1;
}
