/* pmixtool.c - a PMIx tool: finds a server, asks it something, and goes.
 *
 *   pmixtool uri URI | pid PID | scheduler 0 | controller 0 [spawn]
 *                        spawn: and has it start a process, whose output it hears
 *
 * Prints `pmixtool good` when the host of pmixhost.c has let it in and answered. */
#include <pmix_tool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a child writes comes out at our standard output, without our doing. */
static void spawn(void)
{
    char name[] = "true", *argv[] = { name, NULL }, text[16];
    pmix_nspace_t nspace;
    int ends[2], out = dup(STDOUT_FILENO);
    pmix_app_t app;
    size_t n = 0;
    ssize_t more = 1;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = name;
    app.argv = argv;
    app.maxprocs = 1;
    if (pipe(ends) < 0 || dup2(ends[1], STDOUT_FILENO) < 0 ||
        PMIx_Spawn(NULL, 0, &app, 1, nspace) != PMIX_SUCCESS)
        return;
    while (n < sizeof text && more > 0) {
        more = read(ends[0], text + n, sizeof text - n);
        n += more > 0 ? (size_t)more : 0;
    }
    dup2(out, STDOUT_FILENO);
    close(out);
    if (n == sizeof text && !memcmp(text, "said by a child\n", n))
        printf("pmixtool hears\n");
}

int main(int argc, char **argv)
{
    pmix_info_t info, *results = NULL;
    size_t n = 0;
    pmix_query_t query;
    pmix_proc_t me;
    pmix_status_t rc;
    pid_t pid;

    if (argc < 3)
        return 2;
    pid = atoi(argv[2]);
    if (!strcmp(argv[1], "scheduler"))
        PMIX_INFO_LOAD(&info, "pmix.cnct.sched", NULL, PMIX_BOOL);
    else if (!strcmp(argv[1], "controller"))
        PMIX_INFO_LOAD(&info, "pmix.cnct.ctrlr", NULL, PMIX_BOOL);
    else if (!strcmp(argv[1], "pid"))
        PMIX_INFO_LOAD(&info, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    else
        PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[2], PMIX_STRING);
    rc = PMIx_tool_init(&me, &info, 1);
    if (rc != PMIX_SUCCESS) {
        printf("pmixtool: init: %d\n", rc);
        return 1;
    }
    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(rc, query.keys, "test.question");
    rc = PMIx_Query_info(&query, 1, &results, &n);
    if (rc == PMIX_SUCCESS && n == 1 && !strcmp(results[0].value.data.string, "query") &&
        !strcmp(me.nspace, "testtool"))
        printf("pmixtool good\n");
    else
        printf("pmixtool: query: %d\n", rc);
    if (argc > 3 && !strcmp(argv[3], "spawn"))
        spawn();
    if (results)
        PMIX_INFO_FREE(results, n);
    PMIX_QUERY_DESTRUCT(&query);
    PMIX_INFO_DESTRUCT(&info);
    return PMIx_tool_finalize() != PMIX_SUCCESS;
}
