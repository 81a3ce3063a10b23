/* sessions.c - communicators that are made without MPI_Init: each of some threads makes one of the
 * world and one of every second rank, in sessions of its own, at the same time as the others.
 *
 *   sessions [THREADS] [spoil]       THREADS: 0 (the default) is the main thread alone
 */
#include <pthread.h>
#include <stdlib.h>

#include "judge.h"
#include "openmpi5.h"

enum { THREADS_MAX = 8 };

struct user {
    int number;
    bool wrong; /* it is asked to do wrong */
    bool good;
};

/* Everybody's number in the communicator adds up. */
static bool adds_up(MPI_Comm comm, int step, bool wrong)
{
    int me, n, sum = 0, want = 0;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < n; i++)
        want += i * step + 1;
    me = me * step + (wrong ? 2 : 1);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum == want;
}

static bool use_group(MPI_Group group, const char *tag, int step, bool wrong)
{
    MPI_Comm comm = MPI_COMM_NULL;
    bool good;

    if (MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm) !=
        MPI_SUCCESS)
        return false;
    good = adds_up(comm, step, wrong);
    MPI_Comm_free(&comm);
    return good;
}

static bool use_second_ranks(MPI_Group world, const char *tag, bool wrong)
{
    int me, n, every[1][3];
    bool good = true;
    MPI_Group some;

    MPI_Group_rank(world, &me);
    MPI_Group_size(world, &n);
    every[0][0] = 0;
    every[0][1] = n - 1;
    every[0][2] = 2;
    MPI_Group_range_incl(world, 1, every, &some);
    if (me % 2 == 0)
        good = use_group(some, tag, 2, wrong && me > 0);
    MPI_Group_free(&some);
    return good;
}

/* The session must not be freed before the group. */
static MPI_Session open_session(MPI_Group *world_p)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://WORLD", world_p);
    return session;
}

static void *use_session(void *arg)
{
    struct user *u = arg;
    char all[64], some[64];
    MPI_Group world;
    MPI_Session session = open_session(&world);

    snprintf(all, sizeof all, "all-%d", u->number);
    snprintf(some, sizeof some, "some-%d", u->number);
    u->good = use_group(world, all, 1, u->wrong);
    u->good = use_second_ranks(world, some, u->wrong) && u->good;
    MPI_Group_free(&world);
    MPI_Session_finalize(&session);
    return NULL;
}

static bool use_threads(int n, bool wrong)
{
    pthread_t threads[THREADS_MAX];
    struct user users[THREADS_MAX];
    bool good = true;

    for (int i = 0; i < n; i++) {
        users[i] = (struct user){ i, wrong, false };
        if (pthread_create(&threads[i], NULL, use_session, &users[i]) != 0)
            return false;
    }
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        good = good && users[i].good;
    }
    return good;
}

int main(int argc, char **argv)
{
    bool wrong = !strcmp(argv[argc - 1], "spoil");
    int n = argc > 1 ? atoi(argv[1]) : 0, mine, all = 0;
    struct user alone = { THREADS_MAX, wrong, false };
    MPI_Group world;
    MPI_Session session = open_session(&world);
    MPI_Comm comm;

    use_session(&alone);
    mine = use_threads(n < THREADS_MAX ? n : THREADS_MAX, wrong) && alone.good ? 0 : 1;
    MPI_Comm_create_from_group(world, "verdict", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, comm);
    if (rank == 0 && all == 0)
        printf("sessions %d good\n", size);
    else if (rank == 0)
        printf("sessions %d WRONG ranks=%d\n", size, all);
    MPI_Group_free(&world);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
