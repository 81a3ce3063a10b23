/* pmi1_lib.c - the PMI-1 exchange of bench/pmi1 through libpmi: what tests/e2e/rawpmi1.c does by
 * hand.
 *
 * Every rank puts one value of 128 bytes, all meet, every rank gets everybody's and compares it,
 * all meet again.  Rank 0 prints `lib SIZE good` and how long that took.
 */
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "pmi.h"

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

/* The exchange; the number of cards that were wrong, or -1. */
static int exchange(const char *kvsname, int rank, int size)
{
    char key[64], mine[CARD + 1], got[1024];
    int wrong = 0;

    snprintf(key, sizeof(key), "card-%d", rank);
    card(mine, rank);
    if (PMI_KVS_Put(kvsname, key, mine) != PMI_SUCCESS || PMI_KVS_Commit(kvsname) != PMI_SUCCESS ||
        PMI_Barrier() != PMI_SUCCESS)
        return -1;
    for (int r = 0; r < size; r++) {
        snprintf(key, sizeof(key), "card-%d", r);
        card(mine, r);
        if (PMI_KVS_Get(kvsname, key, got, (int)sizeof(got)) != PMI_SUCCESS)
            return -1;
        wrong += strcmp(got, mine) != 0;
    }
    return PMI_Barrier() == PMI_SUCCESS ? wrong : -1;
}

int main(void)
{
    int spawned, rank, size, wrong;
    double start, end;
    char kvsname[256];

    if (PMI_Init(&spawned) != PMI_SUCCESS || PMI_Get_rank(&rank) != PMI_SUCCESS ||
        PMI_Get_size(&size) != PMI_SUCCESS ||
        PMI_KVS_Get_my_name(kvsname, (int)sizeof(kvsname)) != PMI_SUCCESS ||
        PMI_Barrier() != PMI_SUCCESS) /* late starters are not part of the exchange */
        return 3;

    start = now_us();
    wrong = exchange(kvsname, rank, size);
    end = now_us();

    if (wrong != 0)
        PMI_Abort(1, "a card is wrong");
    PMI_Barrier(); /* nobody says good before all have compared */
    if (rank == 0) {
        printf("lib %d good\nexchange_us %.1f\n", size, end - start);
        fflush(stdout);
    }
    return PMI_Finalize() == PMI_SUCCESS ? 0 : 3;
}
