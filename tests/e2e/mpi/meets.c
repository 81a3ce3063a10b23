/* meets.c - two jobs meet: one accepts at a published port, the other looks it up and connects; all
 * ranks of both add up over the intercommunicator, then over the two merged, and part.
 *
 *   meets accept SERVICE      prints "accepting" when the port is published
 *   meets connect SERVICE     looks it up until it is there
 *   ... spoil                 the last rank adds a wrong number
 *
 * Rank 0 of each prints `meets SIZE good` (or WRONG), with the size of its own job.
 */
#include <unistd.h>

#include "judge.h"

enum { TRIES = 600, PAUSE_US = 50000 };

static MPI_Comm take(const char *service, char *port)
{
    MPI_Comm other;

    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(service, MPI_INFO_NULL, port);
        printf("accepting\n");
        fflush(stdout);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    if (rank == 0) {
        MPI_Unpublish_name(service, MPI_INFO_NULL, port);
        MPI_Close_port(port);
    }
    return other;
}

static MPI_Comm call(const char *service, char *port)
{
    MPI_Comm other;

    if (rank == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        for (int i = 0; i < TRIES && MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS;
             i++)
            usleep(PAUSE_US);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    return other;
}

/* Everybody adds their number among all; those of the first job come first. */
static bool adds_up(MPI_Comm other, bool first)
{
    int n, me, others, sum = 0, mine = rank + 1, theirs = 0;
    MPI_Comm all;

    MPI_Comm_remote_size(other, &others);
    MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, other);
    MPI_Intercomm_merge(other, !first, &all);
    MPI_Comm_rank(all, &me);
    MPI_Comm_size(all, &n);
    mine = me + (spoil ? 1 : 0);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    return theirs == others * (others + 1) / 2 && n == size + others && sum == n * (n - 1) / 2 &&
           me == rank + (first ? 0 : others);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    bool first, good;
    MPI_Comm other;

    begin(&argc, &argv);
    if (argc < 3)
        return 2;
    first = !strcmp(argv[1], "accept");
    other = first ? take(argv[2], port) : call(argv[2], port);
    good = adds_up(other, first);
    MPI_Comm_disconnect(&other);
    return verdict("meets", good);
}
