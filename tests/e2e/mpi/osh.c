/* osh.c - an OpenSHMEM program: each writes into its neighbour's memory.  Prints `osh ME of N
 * good`. (Where a library crashes in its finalize, it has been printed by then.)  `osh exit CODE`:
 * the last one ends all of them with shmem_global_exit, while the others wait for it. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long from;
int main(int argc, char **argv)
{
    int me, n;
    long mine;

    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    mine = 100 + me;
    if (argc > 2 && !strcmp(argv[1], "exit") && me == n - 1)
        shmem_global_exit(atoi(argv[2]));
    shmem_barrier_all();
    shmem_long_put(&from, &mine, 1, (me + 1) % n);
    shmem_barrier_all();
    if (from == 100 + (me + n - 1) % n)
        printf("osh %d of %d good\n", me, n);
    else
        printf("osh %d of %d WRONG %ld\n", me, n, from);
    fflush(stdout);
    shmem_finalize();
    return 0;
}
