/* abort.c - `abort RANK CODE`: that rank calls MPI_Abort with the code while all others wait for it
 * in a barrier.  Without arguments nobody does, and all leave well. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc == 3 && rank == atoi(argv[1]))
        MPI_Abort(MPI_COMM_WORLD, atoi(argv[2]));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("nobody aborted\n");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
