/* judge.h - what the MPI test programs share: one verdict for all ranks, in one line.
 *
 * A program computes what it should see without communicating, compares it with what it saw, and
 * calls verdict(): rank 0 prints `NAME SIZE good` or `NAME SIZE WRONG ranks=COUNT`.  Started with
 * the argument `spoil`, one rank (the last) corrupts what it sends: a judge that still says good is
 * broken.
 */
#ifndef WIREUP_E2E_JUDGE_H
#define WIREUP_E2E_JUDGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int rank, size;
static bool spoil;

static inline void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    spoil = *argc > 1 && strcmp((*argv)[*argc - 1], "spoil") == 0 && rank == size - 1;
}

static inline int verdict(const char *name, bool good)
{
    int mine = good ? 0 : 1, all = 0;

    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        if (all == 0)
            printf("%s %d good\n", name, size);
        else
            printf("%s %d WRONG ranks=%d\n", name, size, all);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}

#endif
