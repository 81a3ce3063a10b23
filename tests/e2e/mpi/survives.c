/* survives.c - a job that goes on without those of its processes that die (ULFM).
 *
 *   survives DEAD [all]     the last DEAD ranks kill themselves; the others learn of it, shrink
 *                           their communicator and add up.  `all`: nobody dies, so who expects a
 *                           failure must not find one
 *
 * Rank 0 prints `survives N good` or WRONG.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "judge.h"
#include "openmpi5.h"

enum { TURNS = 1000000 };

/* Until somebody is missed. */
static int meet_until_failure(bool nobody_dies)
{
    int code = MPI_SUCCESS, class = MPI_SUCCESS;

    for (int turn = 0; code == MPI_SUCCESS && turn < (nobody_dies ? 100 : TURNS); turn++)
        code = MPI_Barrier(MPI_COMM_WORLD);
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

static bool adds_up(MPI_Comm comm, int n)
{
    int sum = 0, left = 0;

    MPI_Comm_size(comm, &left);
    return MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && left == n &&
           sum == n * (n - 1) / 2;
}

int main(int argc, char **argv)
{
    bool nobody_dies = argc > 2 && !strcmp(argv[2], "all"), good;
    int dead = argc > 1 ? atoi(argv[1]) : 1, class, all_good;
    MPI_Comm survivors;

    signal(SIGPIPE, SIG_IGN); /* Open MPI 5.0.7 writes to sockets of the dead */
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!nobody_dies && rank >= size - dead)
        raise(SIGKILL);
    class = meet_until_failure(nobody_dies);
    MPIX_Comm_revoke(MPI_COMM_WORLD);
    MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
    good = class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED;
    good = adds_up(survivors, size - dead) && good;
    all_good = good;
    MPIX_Comm_agree(survivors, &all_good);
    if (rank == 0) {
        printf("survives %d %s\n", size, all_good ? "good" : "WRONG");
        fflush(stdout);
    }
    MPI_Comm_free(&survivors);
    MPI_Finalize();
    return 0;
}
