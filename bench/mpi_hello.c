/* mpi_hello.c - when a rank comes to main, leaves MPI_Init, enters and leaves MPI_Finalize; for
 * bench/mpi.  In ms of the monotonic clock, which all processes of a machine share. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    double at[4] = { now_ms() };

    MPI_Init(&argc, &argv);
    at[1] = at[2] = now_ms();
    MPI_Finalize();
    at[3] = now_ms();
    printf("hello %.3f %.3f %.3f %.3f\n", at[0], at[1], at[2], at[3]);
    return 0;
}
