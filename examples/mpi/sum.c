/* sum.c - an MPI program, as it is: nothing in it knows of Wireup.  It is compiled with any MPI's
 * compiler and started with `wireup` where `mpiexec` or `mpirun` would stand; the same binary runs
 * on one node or on many.
 *
 *   wireup -n 4 -bind-to core ./sum */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2)
        printf("sum: WRONG: %d\n", sum);
    else if (rank == 0)
        printf("sum: good\n");
    MPI_Finalize();
    return 0;
}
