/* mpi_linked.c - linked to MPI, and ends at once: the start of its libraries alone; for
 * bench/prefork. */
#include <mpi.h>

int main(int argc, char **argv)
{
    return argc > 100 ? MPI_Init(&argc, &argv) : 0;
}
