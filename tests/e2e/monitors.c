/* monitors.c - monitors of what processes and nodes use (PMIx_Process_monitor), on one node and on
 * several: the last rank asks, for one sample and for one in each second.
 *
 *   monitors      all of it
 *   monitors lie  the control: it expects a sample more than there are
 *
 * Prints `monitors all good` from rank 0, and `monitors all WRONG rank R: what` from whoever finds
 * something wrong.
 */
#include <pmix.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keeps.h"
#define PROGRAM "monitors"
#include "pmix_rank.h"

#ifndef PMIX_MONITOR_PROC_RESOURCE_USAGE /* OpenPMIx before 6 */
#define PMIX_MONITOR_RESUSAGE_UPDATE     (-114)
#define PMIX_MONITOR_RESOURCE_RATE       "pmix.monitor.resrate"
#define PMIX_MONITOR_TARGET_PROCS        "pmix.monitor.tgtproc"
#define PMIX_MONITOR_TARGET_PIDS         "pmix.monitor.tgtpid"
#define PMIX_MONITOR_TARGET_NODES        "pmix.monitor.tgtnode"
#define PMIX_MONITOR_TARGET_NODEIDS      "pmix.monitor.tgtndids"
#define PMIX_MONITOR_PROC_RESOURCE_USAGE "pmix.monitor.presuse"
#define PMIX_MONITOR_NODE_RESOURCE_USAGE "pmix.monitor.ndresuse"
#define PMIX_MONITOR_LOCAL_ONLY          "pmix.monitor.local"
#define PMIX_PROC_RESOURCE_USAGE         "pmix.proc.res"
#define PMIX_NODE_RESOURCE_USAGE         "pmix.node.res"
#define PMIX_PROC_OS_STATE               "pmix.proc.osstate"
#define PMIX_PROC_PERCENT_CPU            "pmix.proc.pcpu"
#define PMIX_PROC_RSS                    "pmix.proc.rss"
#define PMIX_PROC_SAMPLE_TIME            "pmix.proc.samptime"
#define PMIX_NODE_MEM_TOTAL              "pmix.node.mtot"
#define PMIX_NODE_LOAD_AVG               "pmix.node.la"
#endif

enum { FOR_ALL = -5010, NROWS = 2 };

static uint32_t local_size, nnodes /* the launcher's included */, nodeid;
static char *host;

static uint32_t number(const char *key, uint32_t rank)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;

    must(key, PMIx_Get(&p, key, NULL, 0, &v));
    return v ? v->data.uint32 : 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

static const pmix_value_t *member(const pmix_info_t *sample, const char *key)
{
    const pmix_data_array_t *a = sample->value.data.darray;

    for (size_t i = 0; sample->value.type == PMIX_DATA_ARRAY && i < a->size; i++) {
        const pmix_info_t *info = (const pmix_info_t *)a->array + i;
        if (!strcmp(info->key, key))
            return &info->value;
    }
    return NULL;
}

static uint32_t count(const pmix_info_t *infos, size_t n, const char *key)
{
    uint32_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += !strcmp(infos[i].key, key);
    return found;
}

/* A request: what it monitors, the attribute that it wants, and a target. */
struct ask {
    const char *what, *monitor, *wanted, *target;
    pmix_data_type_t type;
    void *items;
    size_t n;
    pmix_status_t status;
    uint32_t samples;
};

static void check_procs(const struct ask *q, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *rss = member(&infos[i], PMIX_PROC_RSS);
        const pmix_value_t *proc = member(&infos[i], PMIX_PROCID);
        if (strcmp(infos[i].key, PMIX_PROC_RESOURCE_USAGE) != 0)
            continue;
        if (!proc || proc->type != PMIX_PROC || strcmp(proc->data.proc->nspace, me.nspace) != 0 ||
            !member(&infos[i], PMIX_PROC_SAMPLE_TIME))
            complain("%s: whose sample, and when", q->what);
        if (!rss || rss->type != PMIX_FLOAT || rss->data.fval <= 0)
            complain("%s: no memory", q->what);
        if (!member(&infos[i], PMIX_PROC_OS_STATE) != !!q->wanted ||
            !member(&infos[i], PMIX_PROC_PERCENT_CPU) != !!q->wanted)
            complain("%s: what is wanted is not what there is", q->what);
    }
}

static void check_nodes(const struct ask *q, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *mem = member(&infos[i], PMIX_NODE_MEM_TOTAL);
        if (strcmp(infos[i].key, PMIX_NODE_RESOURCE_USAGE) == 0 &&
            (!member(&infos[i], PMIX_HOSTNAME) || !mem || mem->data.fval <= 0 ||
             !member(&infos[i], PMIX_NODE_LOAD_AVG) != !!q->wanted))
            complain("%s: the sample of a node", q->what);
    }
}

static size_t load_ask(const struct ask *q, pmix_info_t *what, pmix_info_t *how)
{
    pmix_data_array_t keys = { .type = PMIX_INFO }, list = { q->type, q->n, q->items };
    bool yes = true;
    pmix_info_t key;

    PMIX_INFO_CONSTRUCT(&key);
    if (q->wanted) {
        PMIX_LOAD_KEY(key.key, q->wanted);
        keys.size = 1;
        keys.array = &key;
    }
    PMIX_INFO_LOAD(what, q->monitor, &keys, PMIX_DATA_ARRAY);
    if (!q->target)
        return 0;
    if (q->type == PMIX_BOOL)
        PMIX_INFO_LOAD(how, q->target, &yes, PMIX_BOOL);
    else
        PMIX_INFO_LOAD(how, q->target, &list, PMIX_DATA_ARRAY);
    return 1;
}

static void ask(const struct ask *q)
{
    pmix_info_t what, how[1], *found = NULL;
    size_t n = 0, nhow = load_ask(q, &what, how);
    pmix_status_t rc = PMIx_Process_monitor(&what, PMIX_SUCCESS, how, nhow, &found, &n);
    bool procs = !strcmp(q->monitor, PMIX_MONITOR_PROC_RESOURCE_USAGE);
    uint32_t samples = count(found, n, procs ? PMIX_PROC_RESOURCE_USAGE : PMIX_NODE_RESOURCE_USAGE);

    if (rc != q->status || (rc == PMIX_SUCCESS && samples != q->samples))
        complain("%s: %s, %u samples instead of %u", q->what, PMIx_Error_string(rc), samples,
                 q->samples);
    (procs ? check_procs : check_nodes)(q, found, n);
    PMIX_INFO_DESTRUCT(&what);
    if (nhow)
        PMIX_INFO_DESTRUCT(&how[0]);
}

static void ask_all(bool lie)
{
    static const char proc[] = PMIX_MONITOR_PROC_RESOURCE_USAGE;
    static const char node[] = PMIX_MONITOR_NODE_RESOURCE_USAGE;
    pmix_proc_t ends[2] = { process(0), process(size - 1) };
    pmix_proc_t all = process(PMIX_RANK_WILDCARD), nobody = process(size);
    char *nowhere = (char *)(uintptr_t) "nowhere";
    const struct ask rows[] = {
        { "two processes", proc, PMIX_PROC_RSS, PMIX_MONITOR_TARGET_PROCS, PMIX_PROC, ends, 2, 0,
          2 + lie },
        { "the job", proc, NULL, PMIX_MONITOR_TARGET_PROCS, PMIX_PROC, &all, 1, 0, size },
        { "all that it may see", proc, NULL, NULL, 0, NULL, 0, 0, size },
        { "nobody", proc, NULL, PMIX_MONITOR_TARGET_PROCS, PMIX_PROC, &nobody, 1,
          PMIX_ERR_NOT_FOUND, 0 },
        { "of its node", proc, NULL, PMIX_MONITOR_TARGET_NODES, PMIX_STRING, &host, 1, 0,
          local_size },
        { "of its node, by number", proc, NULL, PMIX_MONITOR_TARGET_NODEIDS, PMIX_UINT32, &nodeid,
          1, 0, local_size },
        { "of its node alone", proc, NULL, PMIX_MONITOR_LOCAL_ONLY, PMIX_BOOL, NULL, 0, 0,
          local_size },
        { "processes that are numbers", proc, NULL, PMIX_MONITOR_TARGET_PROCS, PMIX_UINT32, &nodeid,
          1, PMIX_ERR_BAD_PARAM, 0 },
        { "the nodes", node, NULL, NULL, 0, NULL, 0, 0, nnodes },
        { "their memory", node, PMIX_NODE_MEM_TOTAL, NULL, 0, NULL, 0, 0, nnodes },
        { "its node", node, NULL, PMIX_MONITOR_TARGET_NODES, PMIX_STRING, &host, 1, 0, 1 },
        { "no node", node, NULL, PMIX_MONITOR_TARGET_NODES, PMIX_STRING, &nowhere, 1,
          PMIX_ERR_NOT_FOUND, 0 },
        { "a node that is a process", node, NULL, PMIX_MONITOR_TARGET_PROCS, PMIX_PROC, ends, 1,
          PMIX_ERR_BAD_PARAM, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ask(&rows[i]);
}

static void ask_pids(void)
{
    static const char proc[] = PMIX_MONITOR_PROC_RESOURCE_USAGE;
    pid_t mine = getpid(), all = -1, none = 1;
    const struct ask rows[] = {
        { "by pid", proc, NULL, PMIX_MONITOR_TARGET_PIDS, PMIX_PID, &mine, 1, 0, 1 },
        { "all pids of a node", proc, NULL, PMIX_MONITOR_TARGET_PIDS, PMIX_PID, &all, 1, 0,
          local_size },
        { "no pid of ours", proc, NULL, PMIX_MONITOR_TARGET_PIDS, PMIX_PID, &none, 1,
          PMIX_ERR_NOT_FOUND, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ask(&rows[i]);
}

/* ---- in each second -------------------------------------------------------------------------- */

static atomic_int of_procs, of_nodes, strange;

static void count_update(atomic_int *counter)
{
    if (*counter < NROWS)
        (*counter)++;
}

static void on_update(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                      size_t ninfo, pmix_info_t *results, size_t nresults,
                      pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const char *name = "";

    (void)id;
    (void)results;
    (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (!strcmp(info[i].key, PMIX_MONITOR_ID))
            name = info[i].value.data.string;
    }
    if (code == PMIX_MONITOR_RESUSAGE_UPDATE && me.rank == size - 1 && !strcmp(name, "procs") &&
        count(info, ninfo, PMIX_PROC_RESOURCE_USAGE) == size)
        count_update(&of_procs);
    else if (code == FOR_ALL && source->rank == size - 1 && !strcmp(name, "nodes") &&
             count(info, ninfo, PMIX_NODE_RESOURCE_USAGE) == nnodes)
        count_update(&of_nodes);
    else
        strange++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void begin(const char *monitor, const char *name, pmix_status_t code, bool for_all)
{
    const struct ask q = { .monitor = monitor };
    pmix_data_range_t range = PMIX_RANGE_NAMESPACE;
    pmix_info_t what, how[3], *found = NULL;
    uint32_t seconds = 1;
    size_t n = 0;

    load_ask(&q, &what, NULL);
    PMIX_INFO_LOAD(&how[0], PMIX_MONITOR_RESOURCE_RATE, &seconds, PMIX_UINT32);
    PMIX_INFO_LOAD(&how[1], PMIX_MONITOR_ID, name, PMIX_STRING);
    PMIX_INFO_LOAD(&how[2], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    must(name, PMIx_Process_monitor(&what, code, how, for_all ? 3 : 2, &found, &n));
    if (n == 0)
        complain("%s: no sample at once", name);
}

static pmix_status_t cancel(const char *name)
{
    pmix_info_t what;

    PMIX_INFO_LOAD(&what, PMIX_MONITOR_CANCEL, name, PMIX_STRING);
    return PMIx_Process_monitor(&what, PMIX_SUCCESS, NULL, 0, NULL, NULL);
}

static void check_updates(void)
{
    pmix_status_t codes[] = { PMIX_MONITOR_RESUSAGE_UPDATE, FOR_ALL };

    must("register",
         PMIx_Register_event_handler(codes, 2, NULL, 0, on_update, NULL, NULL) < 0 ? -1 : 0);
    fence();
    if (me.rank == size - 1) {
        begin(PMIX_MONITOR_PROC_RESOURCE_USAGE, "procs", PMIX_SUCCESS, false);
        begin(PMIX_MONITOR_NODE_RESOURCE_USAGE, "nodes", FOR_ALL, true);
        wait_for("samples of processes", &of_procs, NROWS);
    }
    wait_for("samples of nodes", &of_nodes, NROWS);
    fence();
    if (me.rank == size - 1) {
        must("cancel", cancel("procs"));
        must("cancel", cancel("nodes"));
        if (cancel("procs") != PMIX_ERR_NOT_FOUND)
            complain("it goes on when it is cancelled");
    }
    fence();
    if (strange || (me.rank != size - 1 && of_procs))
        complain("samples for others: %d, %d", (int)strange, (int)of_procs);
}

int main(int argc, char **argv)
{
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);
    pmix_value_t *v = NULL;

    (void)argv;
    mode = "all";
    if (rc != PMIX_SUCCESS) {
        printf("monitors WRONG: init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    size = number(PMIX_JOB_SIZE, PMIX_RANK_WILDCARD);
    local_size = number(PMIX_LOCAL_SIZE, PMIX_RANK_WILDCARD);
    nnodes = number(PMIX_NUM_NODES, PMIX_RANK_WILDCARD);
    nnodes += nnodes > 1;
    nodeid = number(PMIX_NODEID, me.rank);
    must("host", PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &v));
    host = v ? v->data.string : NULL;
    must("fence", PMIx_Fence(NULL, 0, NULL, 0)); /* all have been started */
    if (me.rank == size - 1) {
        ask_all(argc > 1);
        ask_pids();
    }
    check_updates();
    must("finalize", PMIx_Finalize(NULL, 0));
    if (me.rank == 0 && !wrong)
        printf("monitors all good\n");
    return wrong ? 1 : 0;
}
