/* psets.c - the process sets that a session has.
 *
 *   psets NAME     rank 0 prints `psets N: COUNT, NAME has SIZE, alike WORLD` in a job of N: how
 *                  many sets it sees, how many members that one has (-1: there is none of that
 *                  name), and how many mpi://WORLD has
 */
#include <string.h>

#include "judge.h"
#include "openmpi5.h"

static bool has(MPI_Session session, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        char found[MPI_MAX_PORT_NAME];
        int len = sizeof found;
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &len, found);
        if (!strcmp(found, name))
            return true;
    }
    return false;
}

static int members(MPI_Session session, const char *name)
{
    MPI_Group group;
    int n = -1;

    if (MPI_Group_from_session_pset(session, name, &group) != MPI_SUCCESS)
        return -1;
    MPI_Group_size(group, &n);
    MPI_Group_free(&group);
    return n;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "mpi://SELF";
    MPI_Session session = MPI_SESSION_NULL;
    int count = 0;

    begin(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    if (rank == 0)
        printf("psets %d: %d, %s has %d, alike %d\n", size, count, name,
               has(session, count, name) ? members(session, name) : -1,
               members(session, "mpi://WORLD"));
    fflush(stdout);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return 0;
}
