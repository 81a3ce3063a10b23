/* mpi_init.c - how long MPI_Init takes: rank 0 prints the median and the longest of all ranks, and
 * from the first one's begin to the last one's end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    double times[2] = { now_ms(), 0 }, *all = NULL, *each = NULL, first, last;
    int rank, size;

    MPI_Init(&argc, &argv);
    times[1] = now_ms();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        all = calloc((size_t)size * 2, sizeof *all);
        each = calloc((size_t)size, sizeof *each);
        if (!all || !each)
            return 1;
    }
    MPI_Gather(times, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        first = all[0];
        last = all[1];
        for (int i = 0; i < size; i++) {
            each[i] = all[2 * i + 1] - all[2 * i];
            first = all[2 * i] < first ? all[2 * i] : first;
            last = all[2 * i + 1] > last ? all[2 * i + 1] : last;
        }
        qsort(each, (size_t)size, sizeof *each, by_value);
        printf("mpi_init %d median=%.3f longest=%.3f all=%.3f\n", size, each[size / 2],
               each[size - 1], last - first);
    }
    free(all);
    free(each);
    MPI_Finalize();
    return 0;
}
