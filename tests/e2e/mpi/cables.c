/* cables.c - every rank hears from another node's rank, from everybody, and the sum of all, and
 * says what it has heard: `cables RANK of SIZE: from R VALUE, sum S, all H`.  A job prints the same
 * lines wherever its ranks are; who started it compares.  With `spoil` the last rank says another
 * value.
 *
 *   cables [STRIDE]       from so many ranks below it comes what is heard (8)
 */
#include <stdlib.h>

#include "judge.h"

static uint32_t value(int from, int to)
{
    uint32_t x = (uint32_t)(from * 1009 + to) * 2654435761u;

    return (x ^ (x >> 15)) + (spoil ? 1 : 0);
}

int main(int argc, char **argv)
{
    uint32_t sent, received = 0, *out, *in, all = 0;
    uint64_t mine, sum = 0;
    int stride, next, before;

    begin(&argc, &argv);
    stride = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 8;
    next = (rank + stride) % size;
    before = (rank + size - stride % size) % size;
    sent = value(rank, size);
    MPI_Sendrecv(&sent, 1, MPI_UINT32_T, next, 0, &received, 1, MPI_UINT32_T, before, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    mine = sent;
    MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);

    out = calloc((size_t)size * 2, sizeof(*out));
    in = out + size;
    for (int r = 0; r < size; r++)
        out[r] = value(rank, r);
    MPI_Alltoall(out, 1, MPI_UINT32_T, in, 1, MPI_UINT32_T, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        all = all * 31 + in[r];
    free(out);
    printf("cables %d of %d: from %d %u, sum %llu, all %u\n", rank, size, before, received,
           (unsigned long long)sum, all);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
