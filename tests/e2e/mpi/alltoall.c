/* alltoall.c - everybody sends everybody else a block of its own length and content; each rank
 * checks every byte, and the sum over all ranks must be what one rank computes alone. */
#include <stdlib.h>

#include "judge.h"

static int length(int from, int to)
{
    return 1 + (from * 31 + to * 17) % 211;
}

static unsigned char byte(int from, int to, int i)
{
    return (unsigned char)(from * 7 + to * 13 + i * 3 + (i >> 4));
}

static uint64_t sum_of(const unsigned char *p, int n)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += p[i];
    return sum;
}

int main(int argc, char **argv)
{
    int *send_n, *send_at, *recv_n, *recv_at, send_all = 0, recv_all = 0;
    uint64_t mine, all = 0, want = 0;
    unsigned char *out, *in;
    bool good = true;

    begin(&argc, &argv);
    send_n = calloc((size_t)size * 4, sizeof(int));
    send_at = send_n + size;
    recv_n = send_at + size;
    recv_at = recv_n + size;
    for (int r = 0; r < size; r++) {
        send_n[r] = length(rank, r);
        recv_n[r] = length(r, rank);
        send_at[r] = send_all;
        recv_at[r] = recv_all;
        send_all += send_n[r];
        recv_all += recv_n[r];
    }
    out = malloc((size_t)send_all);
    in = calloc(1, (size_t)recv_all);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < send_n[r]; i++)
            out[send_at[r] + i] = byte(rank, r, i);
    if (spoil)
        out[send_all - 1] ^= 0x40;

    MPI_Alltoallv(out, send_n, send_at, MPI_UNSIGNED_CHAR, in, recv_n, recv_at, MPI_UNSIGNED_CHAR,
                  MPI_COMM_WORLD);

    for (int r = 0; r < size; r++)
        for (int i = 0; i < recv_n[r]; i++)
            good = good && in[recv_at[r] + i] == byte(r, rank, i);
    mine = sum_of(in, recv_all);
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int from = 0; from < size; from++)
        for (int to = 0; to < size; to++)
            for (int i = 0; i < length(from, to); i++)
                want += byte(from, to, i);
    good = good && all == want;
    free(out);
    free(in);
    free(send_n);
    return verdict("alltoall", good);
}
