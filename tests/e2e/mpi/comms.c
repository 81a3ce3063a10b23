/* comms.c - communicators cut out of the world: split by parity, duplicated, made from a group,
 * kept per node, and joined again as an intercommunicator.  Each is used for a sum that is known.
 */
#include "judge.h"

static int sum_over(MPI_Comm comm, int value)
{
    int sum = -1;

    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

/* Sum of the ranks below n with the given parity. */
static int parity_sum(int n, int parity)
{
    int sum = 0;

    for (int r = parity; r < n; r += 2)
        sum += r;
    return sum;
}

static bool halves_meet(MPI_Comm half)
{
    MPI_Comm between, whole;
    int other = 1 - rank % 2, others, got;
    int leader = (size - 1) % 2 == other ? size - 1 : size - 2; /* halves count downwards */
    bool good;

    if (size < 2)
        return true;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, leader, 7, &between);
    MPI_Comm_remote_size(between, &others);
    MPI_Intercomm_merge(between, rank % 2, &whole);
    got = sum_over(whole, rank);
    good = got == size * (size - 1) / 2 && others == (rank % 2 == 0 ? size / 2 : (size + 1) / 2);
    MPI_Comm_free(&whole);
    MPI_Comm_free(&between);
    return good;
}

int main(int argc, char **argv)
{
    MPI_Comm half, copy, firsts = MPI_COMM_NULL, node;
    MPI_Group world_group, group;
    int count, range[1][3];
    bool good;

    begin(&argc, &argv);
    count = (size + 1) / 2;

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    good = sum_over(half, rank + (spoil ? 1 : 0)) == parity_sum(size, rank % 2);

    MPI_Comm_dup(half, &copy);
    good = sum_over(copy, 1) == (size + 1 - rank % 2) / 2 && good;

    range[0][0] = 0;
    range[0][1] = count - 1;
    range[0][2] = 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    MPI_Group_range_incl(world_group, 1, range, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &firsts);
    if (firsts != MPI_COMM_NULL) {
        good = rank < count && sum_over(firsts, rank) == count * (count - 1) / 2 && good;
        MPI_Comm_free(&firsts);
    } else {
        good = rank >= count && good;
    }

    /* All ranks of these tests share one node: MPI has to agree, which takes a right process map.
     */
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    good = sum_over(node, 1) == size && good;

    good = halves_meet(half) && good;

    MPI_Comm_free(&node);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Group_free(&group);
    MPI_Group_free(&world_group);
    return verdict("comms", good);
}
