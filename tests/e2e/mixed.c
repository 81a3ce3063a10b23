/* mixed.c - a PMI-1 or PMI-2 program (by MIXED) that shares its job with programs of other
 * protocols.
 *
 *   mixed WORD...       WORD: the protocol of each rank, which everybody puts under card-RANK
 *
 * Prints `mixed WORD RANK good`, or what is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MIXED == 1
#include "pmi.h"
#else
#include "pmi2.h"
#endif

static char name[256];

static int begin(int *rank_p)
{
#if MIXED == 1
    int spawned;
    return PMI_Init(&spawned) || PMI_Get_rank(rank_p) || PMI_KVS_Get_my_name(name, sizeof name);
#else
    int spawned, size, app;
    return PMI2_Init(&spawned, &size, rank_p, &app) || PMI2_Job_GetId(name, sizeof name);
#endif
}

static int put(const char *key, const char *value)
{
#if MIXED == 1
    return PMI_KVS_Put(name, key, value) || PMI_KVS_Commit(name);
#else
    return PMI2_KVS_Put(key, value);
#endif
}

static int fence(void)
{
#if MIXED == 1
    return PMI_Barrier();
#else
    return PMI2_KVS_Fence();
#endif
}

static int get(const char *key, int rank, char *value, int room)
{
#if MIXED == 1
    (void)rank;
    return PMI_KVS_Get(name, key, value, room);
#else
    int len;
    return PMI2_KVS_Get(name, rank, key, value, room, &len);
#endif
}

static int end(void)
{
#if MIXED == 1
    return PMI_Finalize();
#else
    return PMI2_Finalize();
#endif
}

int main(int argc, char **argv)
{
    char key[64], value[256], want[256];
    int rank, wrong = 0;

    if (begin(&rank) || rank + 1 >= argc)
        return 1;
    snprintf(key, sizeof key, "card-%d", rank);
    snprintf(value, sizeof value, "%s says %d", argv[rank + 1], rank);
    wrong += put(key, value) != 0;
    wrong += fence() != 0;
    for (int r = 0; r + 1 < argc; r++) {
        snprintf(key, sizeof key, "card-%d", r);
        snprintf(want, sizeof want, "%s says %d", argv[r + 1], r);
        if (get(key, r, value, sizeof value) != 0 || strcmp(value, want) != 0) {
            printf("mixed %s %d WRONG: %s\n", argv[rank + 1], rank, key);
            wrong++;
        }
    }
    wrong += fence() != 0;
    wrong += end() != 0;
    if (!wrong)
        printf("mixed %s %d good\n", argv[rank + 1], rank);
    return wrong != 0;
}
