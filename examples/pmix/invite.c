/* invite.c - a group by invitation: one process asks the others, and each one decides by itself.
 * Nobody has to call anything at the same time, as in a construct; the invitation is an event,
 * and who does not answer is not in the group.
 *
 *   wireup -n 3 ./invite */
#define EXAMPLE "invite"
#include "example.h"

#include <stdatomic.h>

static const char group[] = "example.invited";
static atomic_int invited, registered, joined;

static void on_joined(pmix_status_t status, pmix_info_t *info, size_t n, void *data,
                      pmix_release_cbfunc_t release, void *release_data)
{
    (void)info, (void)n, (void)data;
    joined = status == PMIX_SUCCESS ? 1 : -1;
    if (release)
        release(release_data);
}

static void on_invitation(size_t id, pmix_status_t code, const pmix_proc_t *source,
                          pmix_info_t info[], size_t ninfo, pmix_info_t *results, size_t nresults,
                          pmix_event_notification_cbfunc_fn_t next, void *data)
{
    (void)id, (void)code, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    invited = 1;
    if (next)
        next(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void on_registered(pmix_status_t status, size_t id, void *data)
{
    (void)status, (void)id, (void)data;
    registered = 1;
}

static void await(const char *what, atomic_int *flag)
{
    for (int i = 0; !*flag && i < EXAMPLE_SECONDS * 50; i++)
        usleep(10000);
    if (*flag != 1)
        fail("%s", what);
}

static void invite(void)
{
    pmix_proc_t *guests = calloc(size, sizeof *guests);
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc;

    for (pmix_rank_t r = 1; r < size; r++)
        guests[r - 1] = process(r);
    rc = PMIx_Group_invite(group, guests, size - 1, NULL, 0, &results, &n);
    must("invite", rc);
    for (size_t i = 0; i < n; i++) {
        if (PMIX_CHECK_KEY(&results[i], PMIX_GROUP_MEMBERSHIP) &&
            results[i].value.data.darray->size < size - 1)
            fail("the group has %zu members", results[i].value.data.darray->size);
    }
    free(guests);
}

static void join(void)
{
    pmix_proc_t leader = process(0);

    await("no invitation has come", &invited);
    must("join", PMIx_Group_join_nb(group, &leader, PMIX_GROUP_ACCEPT, NULL, 0, on_joined, NULL));
    await("the group was not formed", &joined);
}

int main(void)
{
    pmix_status_t code = PMIX_GROUP_INVITED;

    begin();
    if (size < 2)
        fail("start at least two processes");
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_invitation, on_registered, NULL);
    await("the handler was not registered", &registered);
    fence(false);
    if (me.rank == 0)
        invite();
    else
        join();
    fence(false);
    return end();
}
