/* inherited_tool.c - a PMIx tool that has a program started on a node, and leaves:
 *
 *   inherited_tool ADDRESS NODE PROGRAM WORDS... */
#include <pmix_tool.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    pmix_nspace_t job;
    pmix_info_t info;
    pmix_proc_t me;
    pmix_app_t app;
    pmix_status_t rc;

    if (argc < 4)
        return 2;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[1], PMIX_STRING);
    rc = PMIx_tool_init(&me, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    if (rc == PMIX_SUCCESS) {
        PMIX_APP_CONSTRUCT(&app);
        app.cmd = argv[3];
        app.argv = argv + 3;
        app.maxprocs = 1;
        PMIX_INFO_LOAD(&info, PMIX_HOST, argv[2], PMIX_STRING);
        rc = PMIx_Spawn(&info, 1, &app, 1, job);
        PMIX_INFO_DESTRUCT(&info);
    }
    if (rc != PMIX_SUCCESS)
        fprintf(stderr, "%s\n", PMIx_Error_string(rc));
    else
        rc = PMIx_tool_finalize();
    return rc != PMIX_SUCCESS;
}
