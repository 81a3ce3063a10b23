/* sets.c - process sets of jobs that come and go: what a tool that starts them is told, and what
 * their processes find and are told.
 *
 *   sets ADDRESS          a tool of that launcher; its input has lines `SET HOST N FILE FIFO`: it
 *                         spawns N processes there, which are in that set
 *   sets FILE FIFO        such a process: appends to FILE; ends with the first byte from FIFO */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix.h"
#include "pmix_tool.h"

static FILE *out;

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t fn, void *arg)
{
    const char *name = "?";
    size_t members = 0;

    (void)id, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_PSET_NAME))
            name = info[i].value.data.string;
        else if (PMIX_CHECK_KEY(&info[i], PMIX_PSET_MEMBERS))
            members = info[i].value.data.darray->size;
    }
    fprintf(out, "%s %s %zu\n", code == PMIX_PROCESS_SET_DEFINE ? "define" : "delete", name,
            members);
    fflush(out);
    fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static int listen_to_sets(void)
{
    pmix_status_t codes[] = { PMIX_PROCESS_SET_DEFINE, PMIX_PROCESS_SET_DELETE };

    return PMIx_Register_event_handler(codes, 2, NULL, 0, on_event, NULL, NULL) < 0;
}

/* The names, or the number of members of the set of that name. */
static void print_query(const char *key, const char *set)
{
    pmix_query_t q;
    pmix_info_t *found = NULL;
    size_t n = 0;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, key);
    if (set) {
        PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
        PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_PSET_NAME, set, PMIX_STRING);
    }
    rc = PMIx_Query_info(&q, 1, &found, &n);
    if (rc != PMIX_SUCCESS || n != 1)
        fprintf(out, "%s: %s\n", key, PMIx_Error_string(rc));
    else if (set)
        fprintf(out, "%s has %zu\n", set, found[0].value.data.darray->size);
    else
        fprintf(out, "sets %s\n", found[0].value.data.string);
    PMIX_INFO_FREE(found, n);
    PMIX_QUERY_DESTRUCT(&q);
}

static int be_member(const char *file, const char *fifo)
{
    pmix_proc_t me;
    char byte;
    int fd;

    out = fopen(file, "a");
    if (!out || PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS || listen_to_sets())
        return 1;
    if (me.rank == 0) {
        print_query(PMIX_QUERY_PSET_NAMES, NULL);
        print_query(PMIX_QUERY_PSET_MEMBERSHIP, "workers");
        fputs("here\n", out);
    }
    fflush(out);
    fd = open(fifo, O_RDONLY);
    while (read(fd, &byte, 1) < 0)
        ;
    return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}

static int spawn(char *self, char **word)
{
    char *args[] = { self, word[3], word[4], NULL };
    pmix_app_t app;
    pmix_info_t infos[2];
    pmix_nspace_t nspace;
    pmix_status_t rc;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = self;
    app.argv = args;
    app.maxprocs = atoi(word[2]);
    app.info = infos;
    app.ninfo = 2;
    PMIX_INFO_LOAD(&infos[0], PMIX_PSET_NAME, word[0], PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_HOST, word[1], PMIX_STRING);
    rc = PMIx_Spawn(NULL, 0, &app, 1, nspace);
    PMIX_INFO_DESTRUCT(&infos[0]);
    PMIX_INFO_DESTRUCT(&infos[1]);
    fprintf(out, "spawned %s\n", rc == PMIX_SUCCESS ? "" : PMIx_Error_string(rc));
    fflush(out);
    return rc != PMIX_SUCCESS;
}

int main(int argc, char **argv)
{
    char word[5][1024];
    char *words[] = { word[0], word[1], word[2], word[3], word[4] };
    pmix_proc_t me;
    pmix_info_t info;

    if (argc == 3)
        return be_member(argv[1], argv[2]);
    out = stdout;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argc > 1 ? argv[1] : "", PMIX_STRING);
    if (PMIx_tool_init(&me, &info, 1) != PMIX_SUCCESS || listen_to_sets())
        return 1;
    while (scanf("%1023s %1023s %1023s %1023s %1023s", word[0], word[1], word[2], word[3],
                 word[4]) == 5) {
        if (spawn(argv[0], words))
            return 1;
    }
    PMIX_INFO_DESTRUCT(&info);
    return PMIx_tool_finalize() != PMIX_SUCCESS;
}
