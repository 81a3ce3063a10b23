/* watched_tool.c - a PMIx tool that looks at a job (watched.py): connects to PMIX_TOOL_URI, asks
 * for the table of processes of each of its jobs, and for its output, until it has done so a few
 * times. */
#include <pmix_tool.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMES = 5 };

static pmix_status_t ask(const char *key, const char *nspace, pmix_info_t **found, size_t *n)
{
    pmix_query_t *q;
    pmix_status_t rc;

    PMIX_QUERY_CREATE(q, 1);
    PMIX_ARGV_APPEND(rc, q->keys, key);
    if (nspace) {
        PMIX_QUERY_QUALIFIERS_CREATE(q, 1);
        PMIX_INFO_LOAD(&q->qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
    }
    rc = PMIx_Query_info(q, 1, found, n);
    PMIX_QUERY_FREE(q, 1);
    return rc;
}

static pmix_status_t look(void)
{
    pmix_info_t *jobs = NULL, *table = NULL;
    size_t n = 0, k = 0;
    char *names, *rest, *name;
    pmix_status_t rc = ask(PMIX_QUERY_NAMESPACES, NULL, &jobs, &n);

    if (rc != PMIX_SUCCESS || n != 1 || jobs[0].value.type != PMIX_STRING)
        return rc ? rc : PMIX_ERROR;
    names = rest = strdup(jobs[0].value.data.string);
    while (rc == PMIX_SUCCESS && (name = strsep(&rest, ","))) {
        rc = ask(PMIX_QUERY_PROC_TABLE, name, &table, &k);
        PMIX_INFO_FREE(table, k);
    }
    free(names);
    PMIX_INFO_FREE(jobs, n);
    return rc;
}

int main(void)
{
    const char *uri = getenv("PMIX_TOOL_URI");
    pmix_proc_t me;
    pmix_info_t info;
    pmix_status_t rc;

    if (!uri)
        return 2;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, uri, PMIX_STRING);
    rc = PMIx_tool_init(&me, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    for (int i = 0; rc == PMIX_SUCCESS && i < TIMES; i++) {
        rc = look();
        usleep(20000);
    }
    if (rc == PMIX_SUCCESS)
        rc = PMIx_tool_finalize();
    if (rc != PMIX_SUCCESS)
        fprintf(stderr, "%s\n", PMIx_Error_string(rc));
    return rc != PMIX_SUCCESS;
}
