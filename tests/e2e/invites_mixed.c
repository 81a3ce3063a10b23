/* invites_mixed.c - a PMIx group by invitation of processes with different client libraries.
 *
 *   invites_mixed LEADER    this rank invites all, itself too (OpenPMIx 4.2 counts itself)
 *
 * Each rank prints `mixed N good` once the group is complete, or what was wrong. */
#define PROGRAM "mixed"
#include <stdlib.h>
#include <string.h>

#include "keeps.h"
#include "pmix_rank.h"

static atomic_int invited, complete;

static void on_news(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                    size_t ninfo, pmix_info_t *results, size_t nresults,
                    pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    if (code == PMIX_GROUP_INVITED)
        invited = 1;
    else
        complete = 1;
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, arg);
}

static void lead(void)
{
    pmix_proc_t *procs = calloc(size, sizeof *procs);
    pmix_info_t *results = NULL;
    size_t n = 0;

    for (uint32_t r = 0; r < size; r++)
        procs[r] = process(r);
    must("invite", PMIx_Group_invite("mixed", procs, size, NULL, 0, &results, &n));
    free(procs);
}

static void follow(uint32_t leader)
{
    pmix_proc_t to = process(leader);
    pmix_info_t *results = NULL;
    size_t n = 0;

    wait_for("invitation", &invited, 1);
    must("join", PMIx_Group_join("mixed", &to, PMIX_GROUP_ACCEPT, NULL, 0, &results, &n));
    wait_for("group", &complete, 1);
}

int main(int argc, char **argv)
{
    pmix_status_t codes[] = { PMIX_GROUP_INVITED, PMIX_GROUP_CONSTRUCT_COMPLETE };
    uint32_t leader = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    pmix_value_t *v = NULL;
    pmix_proc_t all;

    mode = "";
    must("init", PMIx_Init(&me, NULL, 0));
    all = process(PMIX_RANK_WILDCARD);
    must("the size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v ? v->data.uint32 : 1;
    if (PMIx_Register_event_handler(codes, 2, NULL, 0, on_news, NULL, NULL) < 0)
        complain("the handler");
    fence();
    if (me.rank == leader)
        lead();
    else
        follow(leader);
    if (!wrong)
        printf("mixed %u good\n", me.rank);
    fflush(stdout);
    fence();
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong != 0;
}
