/* control.c - a process asks the launcher to act on others, and to clean up after it.
 * Signals go where the process is, on whatever node; and a file that was registered is removed
 * by the launcher when its owner has ended, also when it was killed before it could do so itself.
 *
 *   wireup -n 2 ./control $PWD/FILE        FILE is created, and gone afterwards */
#define EXAMPLE "control"
#include "example.h"

#include <signal.h>
#include <time.h>

static pmix_status_t clean_up_later(const char *file)
{
    FILE *f = fopen(file, "w");
    pmix_info_t info;

    if (!f || fclose(f))
        fail("%s cannot be created", file);
    PMIX_INFO_LOAD(&info, PMIX_REGISTER_CLEANUP, file, PMIX_STRING);
    return PMIx_Job_control(&me, 1, &info, 1, NULL, NULL);
}

static pmix_status_t send_signal(pmix_rank_t rank, int number)
{
    pmix_proc_t target = process(rank);
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT);
    return PMIx_Job_control(&target, 1, &info, 1, NULL, NULL);
}

/* All processes learn what rank 0 has been answered. */
static void check(const char *what, pmix_status_t rc)
{
    put_number(what, is_refusal(rc));
    must("commit", PMIx_Commit());
    fence(true);
    if (get_number(0, what))
        refused("control jobs", rc);
    must(what, rc);
}

static void wait_for_signal(const sigset_t *set)
{
    const struct timespec patience = { .tv_sec = 15 };

    if (sigtimedwait(set, NULL, &patience) != SIGUSR1)
        fail("the signal has not come");
}

int main(int argc, char **argv)
{
    sigset_t set;
    pmix_status_t rc = PMIX_SUCCESS;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL); /* before there are other threads */
    begin();
    if (size < 2 || argc < 2)
        fail("start two processes, and name a file");
    if (me.rank == 0)
        rc = clean_up_later(argv[1]);
    check("register a clean-up", rc);
    if (me.rank == 0)
        rc = send_signal(1, SIGUSR1);
    check("send a signal", rc);
    if (me.rank == 1)
        wait_for_signal(&set);
    fence(false);
    return end();
}
