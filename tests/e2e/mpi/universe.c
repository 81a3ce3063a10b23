/* universe.c - a master that fills its universe: `universe MOST` spawns a worker for each place
 * that MPI_UNIVERSE_SIZE leaves, MOST at the most, and prints `universe SIZE workers N see SIZE on
 * NODES`: how many workers there really are, what they see, and on how many nodes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int universe(void)
{
    int *size, known;

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &size, &known);
    return known ? *size : -1;
}

static int worker(MPI_Comm parent)
{
    char host[256] = "";
    int sees = universe();

    gethostname(host, sizeof host - 1);
    MPI_Gather(&sees, 1, MPI_INT, NULL, 0, MPI_INT, 0, parent);
    MPI_Gather(host, sizeof host, MPI_CHAR, NULL, 0, MPI_CHAR, 0, parent);
    MPI_Comm_disconnect(&parent);
    return MPI_Finalize();
}

static int count_hosts(const char *hosts, int n)
{
    int different = 0;

    for (int i = 0; i < n; i++) {
        int known = 0;
        for (int k = 0; k < i && !known; k++)
            known = !strcmp(hosts + 256 * i, hosts + 256 * k);
        different += !known;
    }
    return different;
}

static void master(const char *self, int most)
{
    int size = universe(), n = size - 1 < most ? size - 1 : most, workers, see[256];
    char *args[] = { "worker", NULL };
    static char hosts[256 * 256];
    MPI_Comm child_daemons;

    if (n < 1) {
        printf("universe %d workers 0\n", size);
        return;
    }
    MPI_Comm_spawn(self, args, n, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child_daemons,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_remote_size(child_daemons, &workers);
    MPI_Gather(NULL, 0, MPI_INT, see, 1, MPI_INT, MPI_ROOT, child_daemons);
    MPI_Gather(NULL, 0, MPI_CHAR, hosts, 256, MPI_CHAR, MPI_ROOT, child_daemons);
    MPI_Comm_disconnect(&child_daemons);
    for (int i = 1; i < workers; i++) {
        if (see[i] != see[0])
            see[0] = -2;
    }
    printf("universe %d workers %d see %d on %d\n", size, workers, see[0],
           count_hosts(hosts, workers));
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return worker(parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        master(argv[0], argc > 1 ? atoi(argv[1]) : 64);
    return MPI_Finalize();
}
