/* fault.c - the survivors of a process that dies are told, and go on.
 * A job that tolerates faults registers a handler for the events that tell of an end; the launcher
 * must have been asked not to end the job with the first failure (-enable-recovery).
 *
 *   wireup -n 3 -enable-recovery ./fault */
#define EXAMPLE "fault"
#include "example.h"

#include <signal.h>
#include <stdatomic.h>

enum { WAIT_SECONDS = 15 };

static atomic_int told, registered;

static void on_death(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t next, void *data)
{
    (void)id, (void)code, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        const pmix_value_t *v = &info[i].value;
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && v->type == PMIX_PROC &&
            v->data.proc->rank == size - 1)
            told = 1;
    }
    if (next)
        next(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void on_registered(pmix_status_t status, size_t id, void *data)
{
    (void)id, (void)data;
    registered = status == PMIX_SUCCESS ? 1 : -1;
}

int main(void)
{
    pmix_status_t deaths[] = { PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_ERR_PROC_ABORTED,
                               PMIX_ERR_PROC_TERM_WO_SYNC, PMIX_ERR_LOST_CONNECTION };

    begin();
    if (size < 2)
        fail("start at least two processes");
    PMIx_Register_event_handler(deaths, sizeof deaths / sizeof *deaths, NULL, 0, on_death,
                                on_registered, NULL);
    while (!registered)
        usleep(1000);
    if (registered < 0)
        fail("the handler was refused");
    fence(false);
    if (me.rank == size - 1)
        raise(SIGKILL);
    for (int i = 0; !told && i < WAIT_SECONDS * 100; i++)
        usleep(10000);
    if (!told)
        refused("tell of a process that has died", PMIX_ERR_TIMEOUT);
    return end();
}
