/* mixed.c - a PMI-1 or PMI-2 program (by MIXED) that shares its job with programs of other
 * protocols.
 *
 *   mixed WORD...       WORD: the protocol of each rank, which everybody puts under card-RANK
 *   mixed random SIZE ROUNDS [spoil]
 *                       each round everybody puts some values under keys of chance, and gets what
 *                       chance picks of the SIZE ranks' values; spoil: the last rank puts wrong
 *                       ones
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

/* ---- chance: the same for everybody who asks for the same ------------------------------------ */

enum { KEYS_MAX = 6, VALUE_MAX = 900, GETS = 60 };

static unsigned mix(unsigned a, unsigned b, unsigned c)
{
    unsigned x = a * 2654435761u ^ b * 2246822519u ^ c * 3266489917u;

    x = (x ^ x >> 15) * 2246822519u;
    x = (x ^ x >> 13) * 3266489917u;
    return x ^ x >> 16;
}

/* So many keys has that rank put in that round. */
static unsigned keys_of(int rank, int round)
{
    return 1 + mix((unsigned)rank, (unsigned)round, 1) % KEYS_MAX;
}

static void key_text(char *key, int rank, int round, unsigned k)
{
    snprintf(key, 64, "r%d-%u-%d", round, mix((unsigned)rank, (unsigned)round, k + 10), rank);
}

static void value_text(char *value, int rank, int round, unsigned k)
{
    unsigned x = mix((unsigned)rank, (unsigned)round, k + 100), n = 1 + x % VALUE_MAX;

    for (unsigned i = 0; i < n; i++)
        value[i] = "0123456789ABCDEF=,:/_"[mix(x, i, 2) % 21];
    value[n] = '\0';
}

static int put_some(int rank, int round, int spoil)
{
    char key[64], value[VALUE_MAX + 1];
    int wrong = 0;

    for (unsigned k = 0; k < keys_of(rank, round); k++) {
        key_text(key, rank, round, k);
        value_text(value, rank + spoil, round, k);
        wrong += put(key, value) != 0;
    }
    return wrong;
}

/* Of this round and of those before; one behind the last key of a rank is not there. */
static int get_some(int me, int size, int round)
{
    char key[64], value[VALUE_MAX + 2], want[VALUE_MAX + 1];
    int wrong = 0;

    for (unsigned i = 0; i < GETS; i++) {
        unsigned chance = mix((unsigned)(me * 1000 + round), i, 3);
        int of = (int)(chance % (unsigned)size), then = (int)(chance / 7 % (unsigned)(round + 1));
        unsigned n = keys_of(of, then), k = chance / 31 % (n + 1);
        int rc;
        key_text(key, of, then, k);
        value_text(want, of, then, k);
        rc = get(key, i % 2 ? of : -1, value, (int)sizeof value);
        wrong += k == n ? rc == 0 : rc != 0 || strcmp(value, want) != 0;
    }
    return wrong;
}

static int run_random(int rank, int size, int rounds, int spoil)
{
    int wrong = 0;

    for (int round = 0; round < rounds; round++) {
        wrong += put_some(rank, round, spoil && rank == size - 1);
        wrong += fence() != 0;
        wrong += get_some(rank, size, round);
    }
    wrong += fence() != 0;
    wrong += end() != 0;
    printf("random %d %s\n", MIXED, wrong ? "WRONG" : "good");
    return wrong != 0;
}

int main(int argc, char **argv)
{
    char key[64], value[256], want[256];
    int rank, wrong = 0;

    if (begin(&rank))
        return 1;
    if (argc > 3 && !strcmp(argv[1], "random"))
        return run_random(rank, atoi(argv[2]), atoi(argv[3]), argc > 4);
    if (rank + 1 >= argc)
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
