/* names.c - the name service through MPI: rank 0 publishes, all look up, rank 0 takes it back.
 *
 *   names            publishes a string of its own
 *   names newline    publishes a string that ends in a newline, as some builds of MPICH make them:
 *                    the line on the wire is followed by an empty one
 *   names spoil      looks up a name that nobody published
 *   names offer SERVICE    opens a port, publishes it, says so, and takes it back when a line comes
 *                          on standard input
 *   names seek SERVICE     all ranks look it up, in another job; rank 0 prints what was found
 */
#include <stdio.h>
#include <string.h>

#include "judge.h"

/* A port of MPICH's own making: on some devices it ends in a newline.  Those that cannot open one
 * publish such a string all the same. */
static bool offer(const char *service)
{
    char port[MPI_MAX_PORT_NAME], line[16];
    bool good = true;

    if (rank == 0) {
        if (MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS)
            strcpy(port, ",000,0000,000\n");
        good = MPI_Publish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS;
        printf("offered %.*s\n", (int)strcspn(port, "\n"), port);
        fflush(stdout);
        good = fgets(line, sizeof(line), stdin) && good;
        good = MPI_Unpublish_name(service, MPI_INFO_NULL, port) == MPI_SUCCESS && good;
    }
    return good;
}

static bool seek(const char *service)
{
    char found[MPI_MAX_PORT_NAME] = "";
    bool good = MPI_Lookup_name(service, MPI_INFO_NULL, found) == MPI_SUCCESS;

    if (good && rank == 0)
        printf("found %.*s\n", (int)strcspn(found, "\n"), found);
    return good;
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "here#1$desc=x", found[MPI_MAX_PORT_NAME] = "";
    char want[MPI_MAX_PORT_NAME], name[64];
    bool newline, good = true;

    begin(&argc, &argv);
    newline = argc > 1 && strcmp(argv[1], "newline") == 0;
    snprintf(name, sizeof(name), "wireup-test-%d", size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc > 2 && strcmp(argv[1], "offer") == 0)
        return verdict("offer", offer(argv[2]));
    if (argc > 2 && strcmp(argv[1], "seek") == 0)
        return verdict("seek", seek(argv[2]));
    if (rank == 0) {
        if (newline)
            strcpy(port, ",000,0000,000\n");
        good = MPI_Publish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS;
        good = good && MPI_Publish_name(name, MPI_INFO_NULL, "again") != MPI_SUCCESS;
    }
    MPI_Bcast(port, (int)sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
    strcpy(want, port);
    want[strcspn(want, "\n")] = '\0'; /* PMI-1 has no way to say the rest */
    if (spoil)
        strcat(name, "-not");
    good = MPI_Lookup_name(name, MPI_INFO_NULL, found) == MPI_SUCCESS && good;
    good = good && strcmp(found, want) == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        good = MPI_Unpublish_name(name, MPI_INFO_NULL, port) == MPI_SUCCESS && good;
        good = MPI_Lookup_name(name, MPI_INFO_NULL, found) != MPI_SUCCESS && good;
    }
    return verdict("names", good);
}
