/* debugger.c - what a debugger does first: find the processes of a job, hold them, let them go.
 * The table of processes tells on which node each one runs and under which pid, and the launcher
 * stops and continues them on all nodes, which the debugger itself could do on its own node alone.
 *
 *   ./debugger $(wireup tools | cut -f 2) JOB     (`tool` lists the jobs) */
#define EXAMPLE "debugger"
#include "example.h"

#include <pmix_tool.h>

/* As the kernel names it: T is stopped. */
static char state_of(pid_t pid)
{
    char path[64], state = '?';
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (!f)
        fail("no process has the pid %d of the table", (int)pid);
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        fail("%s cannot be read", path);
    fclose(f);
    return state;
}

static void await(const pmix_data_array_t *table, bool stopped)
{
    const pmix_proc_info_t *procs = table->array;

    for (size_t i = 0; i < table->size; i++) {
        while ((state_of(procs[i].pid) == 'T') != stopped) /* until the alarm */
            usleep(10000);
    }
}

static void control(const char *job, const char *directive)
{
    pmix_proc_t all;
    pmix_info_t info;
    bool yes = true;

    PMIX_LOAD_PROCID(&all, job, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, directive, &yes, PMIX_BOOL);
    must(directive, PMIx_Job_control(&all, 1, &info, 1, NULL, NULL));
}

int main(int argc, char **argv)
{
    pmix_info_t info, *answers = NULL;
    const pmix_data_array_t *table;
    size_t n = 0;

    alarm(EXAMPLE_SECONDS);
    if (argc < 3)
        fail("name the address of a launcher, and a job");
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[1], PMIX_STRING);
    must("connect", PMIx_tool_init(&me, &info, 1));
    must("query", ask(PMIX_QUERY_PROC_TABLE, PMIX_NSPACE, argv[2], &answers, &n));
    table = n && answers[0].value.type == PMIX_DATA_ARRAY ? answers[0].value.data.darray : NULL;
    if (!table || table->type != PMIX_PROC_INFO || table->size == 0)
        fail("the job %s has no processes", argv[2]);
    control(argv[2], PMIX_JOB_CTRL_PAUSE);
    await(table, true);
    control(argv[2], PMIX_JOB_CTRL_RESUME);
    await(table, false);
    must("finalize", PMIx_tool_finalize());
    printf("debugger: held %zu processes\ndebugger: good\n", table->size);
    return 0;
}
