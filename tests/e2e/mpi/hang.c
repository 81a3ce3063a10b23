/* hang.c - an MPI program that hangs in the way that its argument names; rank 1 is the one to
 * blame.
 *
 *   sends      each of two ranks sends to the other, and none receives
 *   barrier    rank 1 does not come to a barrier
 *   loop       ... because it computes for ever
 *   stopped    ... because it has stopped itself
 *   leaves     ... because it has ended without MPI_Finalize
 *   early      no rank comes to MPI_Init: there is only the library
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned long count;

static __attribute__((noinline)) void compute(void)
{
    for (;;)
        count++;
}

static __attribute__((noinline)) void forget(void)
{
    for (;;)
        pause();
}

static __attribute__((noinline)) void exchange(int rank)
{
    int mine = rank, theirs;

    MPI_Ssend(&mine, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(&theirs, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int rank;

    if (!strcmp(how, "early"))
        forget();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(how, "sends"))
        exchange(rank);
    else if (rank == 1 && !strcmp(how, "barrier"))
        forget();
    else if (rank == 1 && !strcmp(how, "loop"))
        compute();
    else if (rank == 1 && !strcmp(how, "stopped"))
        raise(SIGSTOP);
    else if (rank == 1 && !strcmp(how, "leaves"))
        _exit(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
