/* fence_ways.c - what a fence with data costs by each of its ways, in one job, in turn.
 *
 *   bench-fence-ways BYTES ROUNDS WAY...
 *
 * In each round and for each WAY (a word of PMIX_COLLECTIVE_ALGO) every rank puts BYTES that no
 * other has, all meet, and then meet in a fence that collects, and in one that does not: by its end
 * all have all.  Rank 0 prints the time of these two in microseconds, the first one of each way
 * (links come up), and the median of the others:
 *
 *   ways N BYTES tree first=… median=… exchange first=… median=…
 */
#include <pmix.h>
#include <pmix_deprecated.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 1000, WAYS = 4 };

static pmix_proc_t me;

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS)
        return;
    printf("ways WRONG %s: %s\n", what, PMIx_Error_string(rc));
    exit(1);
}

static void put(size_t bytes, unsigned round)
{
    static char *card;
    pmix_value_t v = { .type = PMIX_BYTE_OBJECT };

    if (!card)
        card = malloc(bytes + 1);
    if (!card)
        exit(1);
    for (size_t i = 0; i < bytes; i++)
        card[i] = (char)(me.rank * 31 + round * 7 + i / 16 + i % 16 * me.rank);
    v.data.bo.bytes = card;
    v.data.bo.size = bytes;
    must("put", PMIx_Put(PMIX_GLOBAL, "card", &v));
    must("commit", PMIx_Commit());
}

static double fence(const char *way)
{
    bool yes = true;
    pmix_info_t infos[2];
    double from;

    PMIX_INFO_LOAD(&infos[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_COLLECTIVE_ALGO, way, PMIX_STRING);
    must("barrier", PMIx_Fence(NULL, 0, NULL, 0));
    from = now_us();
    must("fence", PMIx_Fence(NULL, 0, infos, 2));
    must("barrier", PMIx_Fence(NULL, 0, NULL, 0));
    from = now_us() - from;
    PMIX_INFO_DESTRUCT(&infos[0]);
    PMIX_INFO_DESTRUCT(&infos[1]);
    return from;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    static double took[WAYS][ROUNDS];
    size_t bytes = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned rounds = argc > 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    int ways = argc - 3;
    pmix_value_t *v;
    pmix_proc_t all;

    if (rounds < 2 || rounds > ROUNDS || ways < 1 || ways > WAYS)
        return 2;
    must("init", PMIx_Init(&me, NULL, 0));
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    for (unsigned r = 0; r < rounds; r++) {
        for (int w = 0; w < ways; w++) {
            put(bytes, r * WAYS + (unsigned)w);
            took[w][r] = fence(argv[3 + w]);
        }
    }
    if (me.rank == 0)
        printf("ways %u %zu", v->data.uint32, bytes);
    for (int w = 0; me.rank == 0 && w < ways; w++) {
        double first = took[w][0];
        qsort(took[w] + 1, rounds - 1, sizeof **took, by_time);
        printf(" %s first=%.0f median=%.0f", argv[3 + w], first, took[w][1 + (rounds - 1) / 2]);
    }
    if (me.rank == 0)
        printf("\n");
    PMIX_VALUE_RELEASE(v);
    PMIx_Finalize(NULL, 0);
    return 0;
}
