/* replaces.c - a job whose dead are replaced (ULFM): the survivors shrink their communicator, spawn
 * as many processes as are missing, and merge with them.
 *
 *   replaces DEAD COMMAND ARGUMENT...   ranks 1 to DEAD kill themselves; COMMAND with its arguments
 *                                       starts this program again, as a replacement
 *
 * The first of all prints `replaces N good` or WRONG.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "judge.h"
#include "openmpi5.h"

/* All are there again: each adds 1. */
static bool is_whole(MPI_Comm whole, int n)
{
    int one = 1, sum = 0;

    return MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, whole) == MPI_SUCCESS && sum == n;
}

/* Before MPI_Finalize, which in Open MPI 5.0.7 ends the connections that are left too late: its
 * processes crash or wait for each other, under its own mpirun too. */
static void part(MPI_Comm *whole, MPI_Comm *between)
{
    MPI_Comm_free(whole);
    MPI_Comm_disconnect(between);
}

static void replacement(MPI_Comm parent)
{
    MPI_Comm whole;
    int n = 0;

    MPI_Intercomm_merge(parent, 1, &whole);
    MPI_Comm_size(whole, &n);
    is_whole(whole, n);
    part(&whole, &parent);
}

/* False: the dead were not noticed, or not agreed upon. */
static bool shrink(MPI_Comm all, MPI_Comm *left_p)
{
    int code = MPI_SUCCESS, class = MPI_SUCCESS, good;

    while (code == MPI_SUCCESS)
        code = MPI_Barrier(all);
    MPI_Error_class(code, &class);
    good = class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED;
    MPIX_Comm_revoke(all);
    MPIX_Comm_shrink(all, left_p);
    MPI_Comm_set_errhandler(*left_p, MPI_ERRORS_RETURN);
    MPIX_Comm_agree(*left_p, &good);
    return good;
}

static bool survivor(int dead, char **command)
{
    MPI_Comm all, left, between, whole;
    int n = 0;
    bool good;

    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Barrier(all);
    if (rank >= 1 && rank <= dead)
        raise(SIGKILL);
    if (!shrink(all, &left))
        return false;
    MPI_Comm_size(left, &n);
    if (MPI_Comm_spawn(command[0], command + 1, size - n, MPI_INFO_NULL, 0, left, &between,
                       MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
        return false;
    MPI_Intercomm_merge(between, 0, &whole);
    MPI_Comm_set_errhandler(whole, MPI_ERRORS_RETURN);
    good = n == size - dead && is_whole(whole, size);
    part(&whole, &between);
    return good;
}

int main(int argc, char **argv)
{
    int dead = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm parent;
    bool good;

    signal(SIGPIPE, SIG_IGN); /* Open MPI 5.0.7 writes to sockets of the dead */
    begin(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        replacement(parent);
    } else {
        good = argc > 2 && survivor(dead, argv + 2);
        if (rank == 0) {
            printf("replaces %d %s\n", size, good ? "good" : "WRONG");
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
