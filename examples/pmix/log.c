/* log.c - a process tells the user something, wherever it runs.
 * The launcher puts the text on its own standard error, whole and once, so that it is not lost in
 * the output of the job, and needs no file that all nodes can reach.
 *
 *   wireup -n 2 ./log */
#define EXAMPLE "log"
#include "example.h"

int main(void)
{
    pmix_info_t info;
    pmix_status_t rc = PMIX_SUCCESS;

    begin();
    if (me.rank == 0) {
        PMIX_INFO_LOAD(&info, PMIX_LOG_STDERR, "the example logs this\n", PMIX_STRING);
        rc = PMIx_Log(&info, 1, NULL, 0);
        if (is_refusal(rc))
            refused("log", rc);
        must("log", rc);
    }
    fence(false);
    return end();
}
