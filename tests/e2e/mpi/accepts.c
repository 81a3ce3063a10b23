/* accepts.c - one port, many accepts: rank 0 opens a port once and accepts again and again, each
 * time from a client that connects anew; they exchange a word and disconnect.
 *
 *   accepts TIMES     rank 0 accepts, rank 1 connects, TIMES times
 *   accepts spoil     the same twice, and the client says a wrong word
 */
#include <stdlib.h>

#include "judge.h"

static bool serve(const char *port, int times)
{
    bool good = true;

    for (int i = 0; i < times; i++) {
        MPI_Comm client;
        int word = -1, answer;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client);
        MPI_Recv(&word, 1, MPI_INT, 0, 1, client, MPI_STATUS_IGNORE);
        good = good && word == i;
        answer = 2 * word;
        MPI_Send(&answer, 1, MPI_INT, 0, 2, client);
        MPI_Comm_disconnect(&client);
    }
    return good;
}

static bool call(const char *port, int times)
{
    bool good = true;

    for (int i = 0; i < times; i++) {
        MPI_Comm server;
        int word = spoil ? -7 : i, answer = -1;
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &server);
        MPI_Send(&word, 1, MPI_INT, 0, 1, server);
        MPI_Recv(&answer, 1, MPI_INT, 0, 2, server, MPI_STATUS_IGNORE);
        good = good && answer == 2 * i;
        MPI_Comm_disconnect(&server);
    }
    return good;
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    bool good = true;
    int times;

    begin(&argc, &argv);
    times = argc > 1 ? atoi(argv[1]) : 0;
    times = times ? times : 2;
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        good = serve(port, times);
    else if (rank == 1)
        good = call(port, times);
    if (rank == 0)
        MPI_Close_port(port);
    return verdict("accepts", good);
}
