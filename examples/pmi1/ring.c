/* ring.c - PMI-1 without MPI: each process puts its address into the key-value space, all meet in a
 * barrier, and each gets the address of its right neighbour.  A library that starts its own network
 * needs no more than this, and the program runs under each launcher that serves PMI-1: Wireup,
 * Hydra, Flux.
 *
 *   wireup -n 4 ./ring */
#include <pmi.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *what, int rc)
{
    fprintf(stderr, "ring: WRONG: %s: %d\n", what, rc);
    return 1;
}

int main(void)
{
    char space[256], key[64], value[256], want[256];
    int spawned, rank, size, rc = PMI_Init(&spawned);

    if (rc == PMI_SUCCESS)
        rc = PMI_Get_rank(&rank);
    if (rc == PMI_SUCCESS)
        rc = PMI_Get_size(&size);
    if (rc == PMI_SUCCESS)
        rc = PMI_KVS_Get_my_name(space, sizeof space);
    if (rc != PMI_SUCCESS)
        return fail("start", rc);

    snprintf(key, sizeof key, "address-%d", rank);
    snprintf(value, sizeof value, "host:%d", 4000 + rank);
    rc = PMI_KVS_Put(space, key, value);
    if (rc == PMI_SUCCESS)
        rc = PMI_KVS_Commit(space);
    if (rc == PMI_SUCCESS)
        rc = PMI_Barrier();
    if (rc != PMI_SUCCESS)
        return fail("put", rc);

    snprintf(key, sizeof key, "address-%d", (rank + 1) % size);
    snprintf(want, sizeof want, "host:%d", 4000 + (rank + 1) % size);
    rc = PMI_KVS_Get(space, key, value, sizeof value);
    if (rc != PMI_SUCCESS || strcmp(value, want) != 0)
        return fail(value, rc);
    if (rank == 0)
        printf("ring: good\n");
    return PMI_Finalize() == PMI_SUCCESS ? 0 : 1;
}
