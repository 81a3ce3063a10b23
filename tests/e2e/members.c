/* members.c - writes a line for each node that joins the DVM or leaves it, as its events tell.
 *
 *   members          a process of a job, until its input ends
 *   members ADDRESS  a tool of that launcher */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix.h"
#include "pmix_tool.h"
#include "wireup_client.h"

static const char *word_of(pmix_status_t code)
{
    switch (code) {
    case WIREUP_EVENT_NODE_JOINED: return "joined";
    case WIREUP_EVENT_NODE_LEAVES: return "leaves";
    case WIREUP_EVENT_NODE_STAYS: return "stays";
    case WIREUP_EVENT_NODE_LEFT: return "left";
    default: return "?";
    }
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t fn, void *arg)
{
    const char *name = "?";
    uint32_t slots = 0;
    size_t procs = 0;

    (void)id, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_HOSTNAME))
            name = info[i].value.data.string;
        else if (PMIX_CHECK_KEY(&info[i], PMIX_NUM_SLOTS))
            slots = info[i].value.data.uint32;
        else if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROCS))
            procs = info[i].value.data.darray->size;
    }
    printf("%s %s %u %zu\n", name, word_of(code), slots, procs);
    fflush(stdout);
    fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static pmix_status_t open_tool(char *address)
{
    pmix_proc_t me;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, address, PMIX_STRING);
    return PMIx_tool_init(&me, &info, 1);
}

int main(int argc, char **argv)
{
    pmix_status_t codes[] = { WIREUP_EVENT_NODE_JOINED, WIREUP_EVENT_NODE_LEAVES,
                              WIREUP_EVENT_NODE_STAYS, WIREUP_EVENT_NODE_LEFT };
    pmix_proc_t me;
    char byte;
    pmix_status_t rc = argc > 1 ? open_tool(argv[1]) : PMIx_Init(&me, NULL, 0);

    if (rc < 0 || PMIx_Register_event_handler(codes, 4, NULL, 0, on_event, NULL, NULL) < 0) {
        fprintf(stderr, "members: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    puts("listening");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    rc = argc > 1 ? PMIx_tool_finalize() : PMIx_Finalize(NULL, 0);
    return rc == PMIX_SUCCESS ? 0 : 1;
}
