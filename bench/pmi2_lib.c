/* pmi2_lib.c - what bench/pmi2 runs: the exchange of bench/pmi1 through libpmi2, and spawns.
 *
 *   bench-pmi2 exchange        every rank puts one value of 128 bytes, all meet in a fence, every
 *                              rank gets everybody's and compares it, all meet again.  Rank 0
 *                              prints `lib SIZE good` and how long that took
 *   bench-pmi2 spawn N COMMAND  spawns N processes (0: none) and prints how long the call took
 *
 * It is linked to the name libpmi2.so.0: LD_LIBRARY_PATH says whose that is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmi2.h"

enum { CARD = 128 };

static void card(char *text, int of)
{
    uint32_t x = (uint32_t)of * 2654435761u + 1;

    for (int i = 0; i < CARD; i++) {
        x = x * 1664525u + 1013904223u;
        text[i] = "0123456789ABCDEF"[x >> 28];
    }
    text[CARD] = '\0';
}

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The number of cards that were wrong, or -1. */
static int exchange(const char *job, int rank, int size)
{
    char key[64], mine[CARD + 1], got[1024];
    int wrong = 0, len;

    snprintf(key, sizeof key, "card-%d", rank);
    card(mine, rank);
    if (PMI2_KVS_Put(key, mine) != PMI2_SUCCESS || PMI2_KVS_Fence() != PMI2_SUCCESS)
        return -1;
    for (int r = 0; r < size; r++) {
        snprintf(key, sizeof key, "card-%d", r);
        card(mine, r);
        if (PMI2_KVS_Get(job, r, key, got, (int)sizeof got, &len) != PMI2_SUCCESS)
            return -1;
        wrong += strcmp(got, mine) != 0;
    }
    return PMI2_KVS_Fence() == PMI2_SUCCESS ? wrong : -1;
}

/* Hydra's fence answers at once: who wants to wait for everybody asks for what nobody has, as MPICH
 * does. */
static void meet(const char *job)
{
    int len;

    PMI2_KVS_Fence();
    PMI2_KVS_Get(job, PMI2_ID_NULL, "-NONEXIST-KEY", NULL, 0, &len);
}

static int run_exchange(void)
{
    int spawned, rank, size, appnum, wrong;
    char job[256];
    double start, end;

    if (PMI2_Init(&spawned, &size, &rank, &appnum) != PMI2_SUCCESS ||
        PMI2_Job_GetId(job, (int)sizeof job) != PMI2_SUCCESS)
        return 3;
    meet(job); /* late starters are not part of the exchange */
    start = now_us();
    wrong = exchange(job, rank, size);
    meet(job);
    end = now_us();
    if (wrong != 0)
        PMI2_Abort(1, "a card is wrong");
    if (rank == 0) {
        printf("lib %d good\nexchange_us %.1f\n", size, end - start);
        fflush(stdout);
    }
    return PMI2_Finalize() == PMI2_SUCCESS ? 0 : 3;
}

static int run_spawn(int n, const char *command)
{
    const MPID_Info *infos[] = { NULL };
    int spawned, rank, size, appnum, argcs[] = { 0 }, none[] = { 0 }, rc = 0;
    int *errors = calloc((size_t)n + 1, sizeof *errors);
    const char *cmds[] = { command };
    double start, end;

    if (!errors || PMI2_Init(&spawned, &size, &rank, &appnum) != PMI2_SUCCESS)
        return 3;
    start = now_us();
    if (n > 0)
        rc = PMI2_Job_Spawn(1, cmds, argcs, NULL, &n, none, infos, 0, NULL, NULL, 0, errors);
    end = now_us();
    printf("lib %d %s\nspawn_us %.1f\n", n, rc == PMI2_SUCCESS ? "good" : "WRONG", end - start);
    fflush(stdout);
    free(errors);
    return PMI2_Finalize() == PMI2_SUCCESS ? 0 : 3;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "exchange"))
        return run_exchange();
    if (argc == 4 && !strcmp(argv[1], "spawn"))
        return run_spawn(atoi(argv[2]), argv[3]);
    fprintf(stderr, "bench-pmi2: see the top of pmi2_lib.c\n");
    return 2;
}
