/* query.c - PMIx_Query_info: what it tells of a job of three processes, on one node or on three.
 *
 *   query hold              a process: rank 0 asks; all wait until a line comes
 *   query tool PID NODES    a tool of the launcher with that pid: asks about its job
 *   query ends              processes of a job that goes on when one of them fails
 *   query queues            a process: prints which queues there are, their states, and that of the
 *                           second
 *   query made              a process on machines that are made up (fakemachine.c): rank 0 asks for
 *                           their devices and storage, which show what this machine may not have
 *   query members NODES     a job of one process, the first of a launcher with nodes of two slots:
 *                           what is allocated, also as a job sees it that it spawns on each node
 *   query spoil             the control: expects what is not so
 *
 * OPENPMIX: the release of OpenPMIx whose library it is, which can do less than ours.
 *
 * Each key is asked for as it is, and once more with PMIX_QUERY_REFRESH_CACHE.  Prints a line for
 * what is not as expected, and at last `query NODES good` or `query NODES WRONG`. */
#include <pmix.h>
#include <pmix_tool.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "keeps.h"
#include "shown_devices.h"

enum { SIZE = 3, HOST_MAX = 256, MOST_KEYS = 3, MOST_QUALIFIERS = 4 };

#ifndef OPENPMIX
#define OPENPMIX 0
#endif
/* OpenPMIx 4.2's library drops what was found of several keys, and waits for itself when it is
 * asked about clients. That of 5.0 sends each key in a query of its own, and flags without their
 * values. Both drop the status of a fabric. */
enum {
    DROPS_STATUS = OPENPMIX > 0,
    KEEPS_NO_NUMBER = OPENPMIX > 0, /* of a fabric: it updates the whole of it */
    DROPS_PARTS = OPENPMIX == 4,
    WAITS_FOR_ITSELF = OPENPMIX > 0,
    LOOKS_ITSELF = OPENPMIX > 0, /* for servers, in files */
    PARTS_KEYS = OPENPMIX == 5
};

/* Keys that OpenPMIx 4.2 does not name. */
#define PROC_USAGE      "pmix.qry.pres"
#define NODE_USAGE      "pmix.qry.nres"
#define RSS             "pmix.proc.rss"
#define MEM_TOTAL       "pmix.node.mtot"
#define PEERS           "pmix.qry.peers"
#define NODES           "pmix.qry.node"
#define ALLOCATION      "pmix.query.allc"
#define AVAILABLE_SLOTS "pmix.qry.aslots"
#define HWLOC_XML_V2    "pmix.hwlocxml2"

static pmix_proc_t me;
static char job[PMIX_MAX_NSLEN + 1], last_host[HOST_MAX];
static uint32_t nodes, near; /* how many of its processes are on the node that is asked */
static bool refreshed, spoilt, made;
static int wrong;

static void complain(const char *format, ...)
{
    va_list args;

    wrong++;
    printf("query WRONG%s: ", refreshed ? ", refreshed" : "");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
}

/* ---- asking ---------------------------------------------------------------------------------- */

struct answer {
    pmix_status_t status;
    pmix_info_t *infos;
    size_t n;
};

struct qualifier {
    const char *key;
    const void *value; /* NULL: true */
    pmix_data_type_t type;
};

static const bool yes = true;

static void load_qualifiers(pmix_query_t *q, const struct qualifier *with)
{
    size_t n = 0;

    while (with[n].key)
        n++;
    if (n + refreshed == 0)
        return;
    PMIX_QUERY_QUALIFIERS_CREATE(q, n + refreshed);
    for (size_t i = 0; i < n; i++)
        PMIX_INFO_LOAD(&q->qualifiers[i], with[i].key, with[i].value ? with[i].value : &yes,
                       with[i].value ? with[i].type : PMIX_BOOL);
    if (refreshed)
        PMIX_INFO_LOAD(&q->qualifiers[n], PMIX_QUERY_REFRESH_CACHE, &yes, PMIX_BOOL);
}

static struct answer ask_all(const char *const *keys, const struct qualifier *with)
{
    struct answer a = { .infos = NULL };
    pmix_query_t q;

    PMIX_QUERY_CONSTRUCT(&q);
    for (; *keys; keys++)
        PMIX_ARGV_APPEND(a.status, q.keys, *keys);
    load_qualifiers(&q, with);
    a.status = PMIx_Query_info(&q, 1, &a.infos, &a.n);
    return a;
}

#define ASK(key, ...)                                                                              \
    ask_all((const char *const[]){ key, NULL }, (const struct qualifier[]){ __VA_ARGS__, { NULL } })
#define ASK_BARE(key)                                                                              \
    ask_all((const char *const[]){ key, NULL }, (const struct qualifier[]){ { NULL } })
#define TEXT(key, text)                                                                            \
    {                                                                                              \
        key, text, PMIX_STRING                                                                     \
    }
#define FLAG(key)                                                                                  \
    {                                                                                              \
        key, NULL, PMIX_BOOL                                                                       \
    }
#define PROC(key, proc)                                                                            \
    {                                                                                              \
        key, proc, PMIX_PROC                                                                       \
    }
#define U32(key, number)                                                                           \
    {                                                                                              \
        key, number, PMIX_UINT32                                                                   \
    }

static const pmix_value_t *value_of(const struct answer *a, const char *key)
{
    for (size_t i = 0; i < a->n; i++) {
        if (!strcmp(a->infos[i].key, key))
            return &a->infos[i].value;
    }
    return NULL;
}

static const pmix_data_array_t *array_of(const struct answer *a, const char *key,
                                         pmix_data_type_t type)
{
    const pmix_value_t *v = value_of(a, key);
    const pmix_data_array_t *array = v && v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;

    if (a->status != PMIX_SUCCESS || !array || array->type != type) {
        complain("%s: %s, no array of type %d", key, PMIx_Error_string(a->status), type);
        return NULL;
    }
    return array;
}

static const char *text_of(const struct answer *a, const char *key)
{
    const pmix_value_t *v = value_of(a, key);

    if (a->status != PMIX_SUCCESS || !v || v->type != PMIX_STRING || !v->data.string) {
        complain("%s: %s, no text", key, PMIx_Error_string(a->status));
        return "";
    }
    return v->data.string;
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, word, n) && (at[n] == ',' || !at[n]))
            return true;
    }
    return false;
}

static void expect_missing(const char *what, struct answer a)
{
    if (a.status != PMIX_ERR_NOT_FOUND || a.n)
        complain("%s: %s, %zu answers", what, PMIx_Error_string(a.status), a.n);
}

static pmix_proc_t process(uint32_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, job, rank);
    return p;
}

/* Within an info whose value is an array of infos. */
static const pmix_value_t *inside(const pmix_info_t *info, const char *key)
{
    const pmix_data_array_t *a =
        info->value.type == PMIX_DATA_ARRAY ? info->value.data.darray : NULL;
    const pmix_info_t *infos = a && a->type == PMIX_INFO ? a->array : NULL;

    for (size_t i = 0; infos && i < a->size; i++) {
        if (!strcmp(infos[i].key, key))
            return &infos[i].value;
    }
    return NULL;
}

static uint32_t count_named(const pmix_data_array_t *a, const char *name)
{
    uint32_t n = 0;

    for (size_t i = 0; a && i < a->size; i++)
        n += !strcmp(((const pmix_info_t *)a->array)[i].key, name);
    return n;
}

static void expect_count(const char *what, uint32_t is, uint32_t should)
{
    if (is != should + spoilt)
        complain("%s: %u, not %u", what, is, should);
}

/* ---- jobs and processes ---------------------------------------------------------------------- */

static void check_jobs(void)
{
    struct answer a = ASK_BARE(PMIX_QUERY_NAMESPACES);
    const pmix_data_array_t *jobs;
    const pmix_value_t *v;

    if (!has_word(text_of(&a, PMIX_QUERY_NAMESPACES), job))
        complain("the job is not among %s", text_of(&a, PMIX_QUERY_NAMESPACES));
    a = ASK(PMIX_QUERY_NAMESPACE_INFO, TEXT(PMIX_NSPACE, job));
    jobs = array_of(&a, PMIX_QUERY_NAMESPACE_INFO, PMIX_INFO);
    expect_count("jobs of that name", count_named(jobs, PMIX_JOB_INFO_ARRAY), 1);
    v = jobs && jobs->size ? inside(jobs->array, PMIX_CMD_LINE) : NULL;
    if (!v || v->type != PMIX_STRING || !strstr(v->data.string, "query hold"))
        complain("its command line");
    expect_missing("information on no job",
                   ASK(PMIX_QUERY_NAMESPACE_INFO, TEXT(PMIX_NSPACE, "nobody")));
    a = ASK(PMIX_QUERY_JOB_STATUS, TEXT(PMIX_NSPACE, job));
    v = value_of(&a, PMIX_QUERY_JOB_STATUS);
    if (!v || v->type != PMIX_STATUS || v->data.status != PMIX_SUCCESS)
        complain("its status: %s", PMIx_Error_string(a.status));
    expect_missing("the status of no job", ASK(PMIX_QUERY_JOB_STATUS, TEXT(PMIX_NSPACE, "nobody")));
}

/* All have met: each is connected to the server of its own node. */
static void check_row(const pmix_proc_info_t *row, uint32_t rank)
{
    if (row->proc.rank != rank || strcmp(row->proc.nspace, job) != 0)
        complain("row %u is %s.%u", rank, row->proc.nspace, row->proc.rank);
    if (row->pid <= 1 || kill(row->pid, 0) < 0)
        complain("rank %u has pid %d", rank, row->pid);
    if (row->state != PMIX_PROC_STATE_CONNECTED)
        complain("rank %u is in state %d", rank, row->state);
    if (!row->hostname || !row->executable_name || !strstr(row->executable_name, "query"))
        complain("rank %u: host or program", rank);
}

static void check_table(void)
{
    struct answer a = ASK(PMIX_QUERY_PROC_TABLE, TEXT(PMIX_NSPACE, job));
    const pmix_data_array_t *t = array_of(&a, PMIX_QUERY_PROC_TABLE, PMIX_PROC_INFO);
    const pmix_proc_info_t *rows = t ? t->array : NULL;
    uint32_t hosts = 0;

    expect_count("rows of the table", t ? (uint32_t)t->size : 0, SIZE);
    for (uint32_t i = 0; t && i < t->size; i++) {
        check_row(&rows[i], i);
        hosts += i == 0 || strcmp(rows[i].hostname, rows[i - 1].hostname) != 0;
    }
    expect_count("nodes in the table", hosts, nodes);
    if (hosts)
        snprintf(last_host, sizeof last_host, "%s", rows[t->size - 1].hostname);
}

static uint32_t rows_of(const char *key, struct answer a)
{
    const pmix_data_array_t *t = array_of(&a, key, PMIX_PROC_INFO);

    return t ? (uint32_t)t->size : 0;
}

static void check_some_rows(void)
{
    const char *all = PMIX_QUERY_PROC_TABLE, *some = PMIX_QUERY_LOCAL_PROC_TABLE;
    pmix_proc_t two = process(2);

    expect_count("one process", rows_of(all, ASK(all, PROC(PMIX_PROCID, &two))), 1);
    expect_count("those of a node",
                 rows_of(all, ASK(all, TEXT(PMIX_NSPACE, job), TEXT(PMIX_HOSTNAME, last_host))),
                 SIZE / nodes);
    expect_count("those of this node",
                 rows_of(all, ASK(all, TEXT(PMIX_NSPACE, job), FLAG(PMIX_QUERY_LOCAL_ONLY))), near);
    expect_count("the local table", rows_of(some, ASK(some, TEXT(PMIX_NSPACE, job))), near);
    expect_count("another node's local table",
                 rows_of(some, ASK(some, TEXT(PMIX_NSPACE, job), TEXT(PMIX_HOSTNAME, last_host))),
                 SIZE / nodes);
    expect_missing("the table of no job", ASK(all, TEXT(PMIX_NSPACE, "nobody")));
}

static void expect_state(uint32_t rank, pmix_proc_state_t should)
{
    pmix_proc_t p = process(rank);
    struct answer a = ASK(PMIX_PROC_STATE_STATUS, PROC(PMIX_PROCID, &p));
    const pmix_value_t *v = value_of(&a, PMIX_PROC_STATE_STATUS);

    if (!v || v->type != PMIX_PROC_STATE || v->data.state != should)
        complain("the state of rank %u: %s, %d", rank, PMIx_Error_string(a.status),
                 v ? v->data.state : -1);
}

static void expect_end(uint32_t rank, pmix_status_t should)
{
    pmix_proc_t p = process(rank);
    struct answer a = ASK(PMIX_PROC_TERM_STATUS, PROC(PMIX_PROCID, &p));
    const pmix_value_t *v = value_of(&a, PMIX_PROC_TERM_STATUS);

    if (!v || v->type != PMIX_STATUS || v->data.status != should)
        complain("the end of rank %u: %s", rank, PMIx_Error_string(v ? v->data.status : a.status));
}

static void check_states(void)
{
    pmix_proc_t two = process(2);

    for (uint32_t r = 0; r < SIZE; r++)
        expect_state(r, PMIX_PROC_STATE_CONNECTED);
    expect_missing("the end of a process that runs",
                   ASK(PMIX_PROC_TERM_STATUS, PROC(PMIX_PROCID, &two)));
    expect_missing("the state of no process",
                   ASK(PMIX_PROC_STATE_STATUS, TEXT(PMIX_NSPACE, "nobody")));
}

static void check_places(void)
{
    struct answer a = ASK(PEERS, TEXT(PMIX_NSPACE, job), TEXT(PMIX_HOSTNAME, last_host));
    const pmix_data_array_t *peers = array_of(&a, PEERS, PMIX_PROC);
    struct answer b = ASK(NODES, TEXT(PMIX_NSPACE, job));
    struct answer c = ASK_BARE(ALLOCATION);

    expect_count("peers of a node", peers ? (uint32_t)peers->size : 0, SIZE / nodes);
    if (!has_word(text_of(&b, NODES), last_host))
        complain("the nodes are %s", text_of(&b, NODES));
    expect_count("nodes of the allocation",
                 count_named(array_of(&c, ALLOCATION, PMIX_INFO), PMIX_NODE_INFO_ARRAY), nodes);
}

/* ---- usage ----------------------------------------------------------------------------------- */

static bool is_positive(const pmix_value_t *v)
{
    return v && v->type == PMIX_FLOAT && v->data.fval > 0;
}

static uint32_t count_in(struct answer a, const char *key, const char *name, const char *member)
{
    const pmix_data_array_t *array = array_of(&a, key, PMIX_INFO);
    const pmix_info_t *infos = array ? array->array : NULL;

    for (size_t i = 0; array && member && i < array->size; i++) {
        if (!strcmp(infos[i].key, name) && !is_positive(inside(&infos[i], member)))
            complain("%s: no %s", key, member);
    }
    return count_named(array, name);
}

static void check_memory(void)
{
    const char *key = PMIX_QUERY_MEMORY_USAGE, *each = PMIX_PROC_INFO_ARRAY;
    struct answer a = ASK(key, TEXT(PMIX_NSPACE, job));
    const pmix_data_array_t *all = array_of(&a, key, PMIX_INFO);
    const pmix_info_t *infos = all ? all->array : NULL;
    pmix_proc_t two = process(2);

    if (!all || all->size < 2 || strcmp(infos[0].key, PMIX_DAEMON_MEMORY) != 0 ||
        !is_positive(&infos[0].value) || strcmp(infos[1].key, PMIX_CLIENT_AVG_MEMORY) != 0 ||
        !is_positive(&infos[1].value))
        complain("memory of the daemon and of its processes");
    expect_count("memory of nodes", count_in(a, key, PMIX_NODE_INFO_ARRAY, PMIX_CLIENT_AVG_MEMORY),
                 nodes);
    expect_count("memory of processes", count_in(a, key, each, RSS), SIZE);
    expect_count(
        "averages alone",
        count_in(ASK(key, TEXT(PMIX_NSPACE, job), FLAG(PMIX_QUERY_REPORT_AVG)), key, each, NULL),
        0);
    expect_count(
        "minimum and maximum",
        count_in(ASK(key, TEXT(PMIX_NSPACE, job), FLAG(PMIX_QUERY_REPORT_MINMAX)), key, each, RSS),
        2);
    expect_count("memory of one process",
                 count_in(ASK(key, PROC(PMIX_PROCID, &two)), key, each, RSS), 1);
    expect_missing("memory of no job", ASK(key, TEXT(PMIX_NSPACE, "nobody")));
}

static void check_usage(void)
{
    const char *each = "pmix.proc.res", *node = "pmix.node.res";

    expect_count("processes",
                 count_in(ASK(PROC_USAGE, TEXT(PMIX_NSPACE, job)), PROC_USAGE, each, RSS), SIZE);
    expect_count("their average",
                 count_in(ASK(PROC_USAGE, TEXT(PMIX_NSPACE, job), FLAG(PMIX_QUERY_REPORT_AVG)),
                          PROC_USAGE, each, RSS),
                 1);
    expect_count("those of a node",
                 count_in(ASK(PROC_USAGE, TEXT(PMIX_NSPACE, job), TEXT(PMIX_HOSTNAME, last_host)),
                          PROC_USAGE, each, RSS),
                 SIZE / nodes);
    expect_count("nodes of the job",
                 count_in(ASK(NODE_USAGE, TEXT(PMIX_NSPACE, job)), NODE_USAGE, node, MEM_TOTAL),
                 nodes);
    expect_count(
        "one node",
        count_in(ASK(NODE_USAGE, TEXT(PMIX_HOSTNAME, last_host)), NODE_USAGE, node, MEM_TOTAL), 1);
}

/* ---- storage and hardware -------------------------------------------------------------------- */

static void expect_type(const char *key, const struct qualifier *which, pmix_data_type_t type)
{
    struct answer a = ask_all((const char *const[]){ key, NULL }, which);
    const pmix_value_t *v = value_of(&a, key);

    if (!v || v->type != type)
        complain("%s: %s, type %d", key, PMIx_Error_string(a.status), v ? v->type : 0);
}

static void check_storage_facts(const struct qualifier *which)
{
    static const struct {
        const char *key;
        pmix_data_type_t type;
    } facts[] = { { PMIX_STORAGE_MEDIUM, PMIX_STOR_MEDIUM },
                  { PMIX_STORAGE_ACCESSIBILITY, PMIX_STOR_ACCESS },
                  { PMIX_STORAGE_ACCESS_TYPE, PMIX_STOR_ACCESS_TYPE },
                  { PMIX_STORAGE_CAPACITY_LIMIT, PMIX_UINT64 },
                  { PMIX_STORAGE_CAPACITY_USED, PMIX_DOUBLE },
                  { PMIX_STORAGE_OBJECT_LIMIT, PMIX_UINT64 },
                  { PMIX_STORAGE_OBJECTS_USED, PMIX_UINT64 },
                  { PMIX_STORAGE_MINIMAL_XFER_SIZE, PMIX_DOUBLE },
                  { PMIX_STORAGE_SUGGESTED_XFER_SIZE, PMIX_DOUBLE } };

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        expect_type(facts[i].key, which, facts[i].type);
}

/* What is in memory is kept until the node stops, where there is such a storage. */
static void check_memory_storage(void)
{
    const struct qualifier which[] = { TEXT(PMIX_STORAGE_TYPE, "tmpfs"), { NULL } };
    struct answer a = ask_all((const char *const[]){ PMIX_STORAGE_TYPE, NULL }, which);
    const pmix_value_t *v;

    if (a.status != PMIX_SUCCESS)
        return;
    a = ask_all((const char *const[]){ PMIX_STORAGE_PERSISTENCE, NULL }, which);
    v = value_of(&a, PMIX_STORAGE_PERSISTENCE);
    if (!v || v->type != PMIX_STOR_PERSIST ||
        memcmp(&v->data, &(uint64_t){ PMIX_STORAGE_PERSISTENCE_NODE }, sizeof(uint64_t)) != 0)
        complain("how long memory is kept: type %d", v ? v->type : 0);
}

static void check_storage(void)
{
    struct answer a = ASK(PMIX_QUERY_STORAGE_LIST, TEXT(PMIX_HOSTNAME, last_host));
    const char *const keys[] = { PMIX_STORAGE_PATH, PMIX_STORAGE_TYPE, NULL };
    char *list = strdup(text_of(&a, PMIX_QUERY_STORAGE_LIST)), *path;
    struct qualifier which[] = { TEXT(PMIX_STORAGE_ID, list), { NULL } };
    const char *is;

    list[strcspn(list, ",")] = '\0';
    path = strchr(list, ':');
    a = ask_all(keys, which);
    is = text_of(&a, PMIX_STORAGE_PATH);
    if (!*list || !path ||
        (strncmp(list, last_host, (size_t)(path - list)) == 0 && strcmp(path + 1, is)))
        complain("storage %s is at %s", list, is);
    if (!*text_of(&a, PMIX_STORAGE_TYPE))
        complain("storage %s has no type", list);
    check_storage_facts(which);
    check_memory_storage();
    expect_missing("a storage that is not there",
                   ASK(PMIX_STORAGE_TYPE, TEXT(PMIX_STORAGE_ID, "nowhere")));
    free(list);
}

static void check_hardware(void)
{
    struct answer a = ASK_BARE(HWLOC_XML_V2), b = ASK(HWLOC_XML_V2, TEXT(PMIX_HOSTNAME, last_host));

    if (strncmp(text_of(&a, HWLOC_XML_V2), "<?xml", 5) != 0)
        complain("this node's hardware");
    if (strncmp(text_of(&b, HWLOC_XML_V2), "<?xml", 5) != 0)
        complain("the hardware of %s", last_host);
    if (!strstr(text_of(&b, HWLOC_XML_V2), "<topology version=\"2"))
        complain("another form of the hardware");
    b = ASK(PMIX_HWLOC_XML_V1, TEXT(PMIX_HOSTNAME, last_host));
    if (!strstr(text_of(&b, PMIX_HWLOC_XML_V1), "<topology>"))
        complain("the hardware of %s for hwloc 1", last_host);
    expect_missing("the hardware of no node", ASK(HWLOC_XML_V2, TEXT(PMIX_HOSTNAME, "nowhere")));
}

/* ---- devices --------------------------------------------------------------------------------- */

/* What is told of each device of a class. */
#define FACT(key, of)                                                                              \
    {                                                                                              \
#key, key, of                                                                              \
    }
struct fact {
    const char *name, *key;
    const char *(*shown)(const char *device);
};

static const struct fact interface_facts[] = { FACT(PMIX_FABRIC_DEVICE_NAME, name_of),
                                               FACT(PMIX_FABRIC_DEVICE_TYPE, type_of),
                                               FACT(PMIX_FABRIC_DEVICE_BUS_TYPE, bus_of),
                                               FACT(PMIX_FABRIC_DEVICE_PCI_DEVID, place_of),
                                               FACT(PMIX_FABRIC_DEVICE_VENDORID, vendor_number),
                                               FACT(PMIX_FABRIC_DEVICE_VENDOR, vendor_name),
                                               FACT(PMIX_FABRIC_DEVICE_DRIVER, driver_of),
                                               FACT(PMIX_FABRIC_DEVICE_ADDRESS, address_of),
                                               FACT(PMIX_FABRIC_DEVICE_INDEX, index_of),
                                               FACT(PMIX_FABRIC_DEVICE_MTU, frame_of),
                                               FACT(PMIX_FABRIC_DEVICE_SPEED, speed_of),
                                               FACT(PMIX_FABRIC_DEVICE_STATE, state_of),
                                               { NULL } };
static const struct fact adapter_facts[] = { FACT(PMIX_FABRIC_DEVICE_NAME, name_of),
                                             FACT(PMIX_FABRIC_DEVICE_TYPE, type_of_adapter),
                                             FACT(PMIX_FABRIC_DEVICE_FIRMWARE, firmware_of_adapter),
                                             FACT(PMIX_FABRIC_DEVICE_ADDRESS, address_of_adapter),
                                             FACT(PMIX_FABRIC_DEVICE_SPEED, speed_of_adapter),
                                             FACT(PMIX_FABRIC_DEVICE_STATE, state_of_adapter),
                                             { NULL } };

static void print_fact(const pmix_value_t *v, char *text, size_t room)
{
    static const char *const states[] = {
        [PMIX_LINK_STATE_UNKNOWN] = "unknown", [PMIX_LINK_DOWN] = "down", [PMIX_LINK_UP] = "up"
    };

    *text = '\0';
    if (v && v->type == PMIX_STRING)
        snprintf(text, room, "%s", v->data.string);
    else if (v && v->type == PMIX_UINT32)
        snprintf(text, room, "%u", v->data.uint32);
    else if (v && v->type == PMIX_SIZE)
        snprintf(text, room, "%zu", v->data.size);
    else if (v && v->type == PMIX_LINK_STATE)
        snprintf(text, room, "%s", states[v->data.linkstate]);
    else if (v)
        snprintf(text, room, "a value of type %u", v->type);
}

/* The made-up machine has all that is asked for. */
static void check_fact(const struct fact *f, const char *device, const pmix_info_t *about)
{
    const char *want = f->shown(device);
    char is[256];

    print_fact(inside(about, f->key), is, sizeof is);
    if (want && strcmp(is, want) != 0)
        complain("%s of %s is '%s', not '%s'", f->name, device, is, want);
    if (made && (!want || !*want))
        complain("the test shows no %s of %s", f->name, device);
}

static void check_device(const char *device)
{
    const struct fact *facts = strncmp(device, "net/", 4) ? adapter_facts : interface_facts;
    struct answer a = ASK(PMIX_FABRIC_DEVICE, TEXT(PMIX_FABRIC_DEVICE_NAME, name_of(device)),
                          TEXT(PMIX_HOSTNAME, last_host));
    const pmix_value_t *host;

    if (!array_of(&a, PMIX_FABRIC_DEVICE, PMIX_INFO))
        return;
    for (const struct fact *f = facts; f->key; f++)
        check_fact(f, device, a.infos);
    host = inside(a.infos, PMIX_HOSTNAME);
    if (!host || host->type != PMIX_STRING || strcmp(host->data.string, last_host) != 0)
        complain("%s is not said to be of %s", device, last_host);
}

static void expect_fabric(const char *what, pmix_status_t rc, const pmix_fabric_t *fabric,
                          uint32_t n)
{
    size_t devices = 0;
    bool numbered = false;

    for (size_t i = 0; i < fabric->ninfo; i++) {
        const pmix_value_t *v = &fabric->info[i].value;
        if (!strcmp(fabric->info[i].key, PMIX_FABRIC_DEVICES))
            devices = v->data.darray->size;
        else if (!strcmp(fabric->info[i].key, PMIX_FABRIC_INDEX))
            numbered = v->type == PMIX_SIZE && (KEEPS_NO_NUMBER || v->data.size == fabric->index);
    }
    if (rc != PMIX_SUCCESS || devices != n || !numbered)
        complain("fabric, %s: %s, %zu devices%s", what, PMIx_Error_string(rc), devices,
                 numbered ? "" : ", no number");
}

/* Our library has callbacks for the same. */
#if !OPENPMIX
static atomic_int called_back;
static pmix_status_t back_with;
static size_t back_distances;

static void on_back(pmix_status_t status, void *arg)
{
    (void)arg;
    back_with = status;
    called_back++;
}

static void on_distances(pmix_status_t status, pmix_device_distance_t *list, size_t n, void *arg,
                         pmix_release_cbfunc_t release, void *release_arg)
{
    (void)list;
    back_distances = n;
    on_back(status, arg);
    if (release)
        release(release_arg);
}

static pmix_status_t wait_back(const char *what, pmix_status_t rc, int n)
{
    if (rc == PMIX_OPERATION_SUCCEEDED)
        return PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS)
        return rc;
    for (int i = 0; i < 150000 && called_back < n; i++) /* only hangs take so long */
        usleep(2000);
    if (called_back != n)
        complain("%s: called back %d times, not %d", what, (int)called_back, n);
    return back_with;
}

static void check_fabric_back(uint32_t n)
{
    int before = called_back;
    pmix_fabric_t fabric;
    pmix_status_t rc;

    memset(&fabric, 0, sizeof fabric);
    rc = wait_back("registrations", PMIx_Fabric_register_nb(&fabric, NULL, 0, on_back, NULL),
                   before + 1);
    expect_fabric("registered, called back", rc, &fabric, n);
    before = called_back;
    rc = wait_back("updates", PMIx_Fabric_update_nb(&fabric, on_back, NULL), before + 1);
    expect_fabric("updated, called back", rc, &fabric, n);
    before = called_back;
    if (wait_back("ends", PMIx_Fabric_deregister_nb(&fabric, on_back, NULL), before + 1) !=
        PMIX_SUCCESS)
        complain("the fabric is not deregistered, called back");
}

static void check_distances_back(pmix_topology_t *topology, pmix_cpuset_t *cpus, pmix_info_t *which,
                                 pmix_status_t want, size_t n)
{
    int before = called_back;
    pmix_status_t rc = wait_back(
        "distances", PMIx_Compute_distances_nb(topology, cpus, which, 1, on_distances, NULL),
        before + 1);

    if (rc != want || (rc == PMIX_SUCCESS && back_distances != n))
        complain("distances, called back: %s, %zu devices", PMIx_Error_string(rc), back_distances);
}
#else
#define check_fabric_back(n)
#define check_distances_back(topology, cpus, which, want, n)
#endif

static void check_fabric(uint32_t n)
{
    pmix_fabric_t fabric;

    check_fabric_back(n);
    memset(&fabric, 0, sizeof fabric);
    expect_fabric("registered", PMIx_Fabric_register(&fabric, NULL, 0), &fabric, n);
    expect_fabric("updated", PMIx_Fabric_update(&fabric), &fabric, n);
    if (PMIx_Fabric_deregister(&fabric) != PMIX_SUCCESS)
        complain("the fabric is not deregistered");
}

/* The interfaces of one name are a plane of it. */
static void check_fabric_parts(const char *name)
{
    static const char *const keys[] = { PMIX_FABRIC_PLANE, PMIX_FABRIC_IDENTIFIER,
                                        PMIX_FABRIC_VENDOR };
    pmix_fabric_t fabric;
    pmix_info_t part[2];

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        memset(&fabric, 0, sizeof fabric);
        PMIX_INFO_LOAD(&part[0], keys[i], "none such", PMIX_STRING);
        if (PMIx_Fabric_register(&fabric, part, 1) !=
            (DROPS_STATUS ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND))
            complain("fabric, %s: one that is not there is found", keys[i]);
    }
    memset(&fabric, 0, sizeof fabric);
    PMIX_INFO_LOAD(&part[0], PMIX_FABRIC_PLANE, name, PMIX_STRING);
    PMIX_INFO_REQUIRED(&part[0]);
    expect_fabric("one plane", PMIx_Fabric_register(&fabric, part, 1), &fabric, 1);
    if (!KEEPS_NO_NUMBER)
        expect_fabric("one plane, updated", PMIx_Fabric_update(&fabric), &fabric, 1);
    memset(&fabric, 0, sizeof fabric);
    PMIX_INFO_LOAD(&part[1], PMIX_FABRIC_IDENTIFIER, "Ethernet", PMIX_STRING);
    expect_fabric("one plane, of that type", PMIx_Fabric_register(&fabric, part, 2), &fabric, 1);
}

/* ---- distances, which the library computes ---- */

/* Devices that are more than software. */
static uint32_t hardware;

static void count_hardware(const char *device)
{
    hardware += *shown_link(device, "device") != '\0';
}

static void check_distance(const pmix_device_distance_t *d)
{
    const char *address = d->uuid ? strstr(d->uuid, "://") : NULL;
    char device[HOST_MAX];

    snprintf(device, sizeof device, "net/%s", d->osname ? d->osname : "");
    if (!address || strcmp(address + 3, shown(device, "address")) != 0 ||
        d->type != PMIX_DEVTYPE_NETWORK || d->mindist > d->maxdist)
        complain("the distance to %s (%s): %u to %u", d->osname, d->uuid, d->mindist, d->maxdist);
}

static void check_distances(void)
{
    pmix_device_type_t type = PMIX_DEVTYPE_NETWORK;
    pmix_device_distance_t *list = NULL;
    pmix_topology_t topology = { .source = NULL };
    pmix_cpuset_t cpus = { .source = NULL };
    pmix_info_t which;
    size_t n = 0;
    pmix_status_t rc;

    if (PMIx_Load_topology(&topology) != PMIX_SUCCESS ||
        PMIx_Get_cpuset(&cpus, PMIX_CPUBIND_PROCESS) != PMIX_SUCCESS)
        complain("no topology, or no processors");
    PMIX_INFO_LOAD(&which, PMIX_DEVICE_TYPE, &type, PMIX_DEVTYPE);
    rc = PMIx_Compute_distances(&topology, &cpus, &which, 1, &list, &n);
    hardware = 0;
    each_device("net", count_hardware);
    if (hardware && (rc != PMIX_SUCCESS || n == 0))
        complain("distances: %s, %zu devices", PMIx_Error_string(rc), n);
    check_distances_back(&topology, &cpus, &which, rc, n);
    for (size_t i = 0; rc == PMIX_SUCCESS && i < n; i++)
        check_distance(&list[i]);
    PMIX_INFO_LOAD(&which, PMIX_DEVICE_ID, "nothing", PMIX_STRING);
    if (PMIx_Compute_distances(&topology, &cpus, &which, 1, &list, &n) == PMIX_SUCCESS)
        complain("a distance to nothing");
}

static uint32_t count_devices(const char *key, struct answer a)
{
    const pmix_value_t *v = value_of(&a, key);

    return v && v->type == PMIX_SIZE ? (uint32_t)v->data.size : 77;
}

static void check_device_type(const char *type, uint32_t n)
{
    const char *key = PMIX_FABRIC_NUM_DEVICES;

    expect_count(type,
                 count_devices(key, ASK(key, TEXT(PMIX_FABRIC_DEVICE_TYPE, type),
                                        TEXT(PMIX_HOSTNAME, last_host))),
                 n);
}

static uint32_t ethernets;
static char ethernet[HOST_MAX]; /* one of them */

static void check_interface(const char *device)
{
    check_device(device);
    if (strcmp(type_of(device), "Ethernet") != 0)
        return;
    ethernets++;
    snprintf(ethernet, sizeof ethernet, "%s", name_of(device));
}

/* All nodes are one machine here. */
static void check_devices(void)
{
    const char *key = PMIX_FABRIC_NUM_DEVICES;
    uint32_t n = each_device("net", NULL) + each_device("infiniband", NULL);
    struct answer all;
    const pmix_data_array_t *list;

    expect_count("devices of a node", count_devices(key, ASK(key, TEXT(PMIX_HOSTNAME, last_host))),
                 n);
    if (n == 0)
        return;
    all = ASK(PMIX_FABRIC_DEVICES, TEXT(PMIX_HOSTNAME, last_host));
    list = array_of(&all, PMIX_FABRIC_DEVICES, PMIX_INFO);
    expect_count("devices", list ? (uint32_t)list->size : 0, n);
    ethernets = 0;
    each_device("net", check_interface);
    each_device("infiniband", check_device);
    check_device_type("Ethernet", ethernets);
    check_device_type("none such", 0);
    check_fabric(n);
    if (ethernets)
        check_fabric_parts(ethernet);
    expect_missing("a device that is not there",
                   ASK(PMIX_FABRIC_DEVICE, TEXT(PMIX_FABRIC_DEVICE_NAME, "nothing")));
}

/* ---- groups and sets ------------------------------------------------------------------------- */

static void expect_groups(uint32_t rank, uint32_t should)
{
    pmix_proc_t p = process(rank);
    struct answer a = ASK(PMIX_GROUP_NAMES, PROC(PMIX_PROCID, &p));
    const pmix_data_array_t *names = array_of(&a, PMIX_GROUP_NAMES, PMIX_STRING);
    uint32_t n = 0;

    for (size_t i = 0; names && i < names->size; i++) {
        const char *name = ((char *const *)names->array)[i];
        n += !strcmp(name, "all") || !strcmp(name, "few");
    }
    expect_count("groups of a process", n, should);
}

static void check_groups(void)
{
    struct answer a = ASK_BARE(PMIX_QUERY_NUM_GROUPS), b = ASK_BARE(PMIX_QUERY_GROUP_NAMES);
    struct answer c = ASK(PMIX_QUERY_GROUP_MEMBERSHIP, TEXT(PMIX_GROUP_ID, "few"));
    const pmix_value_t *v = value_of(&a, PMIX_QUERY_NUM_GROUPS);
    const pmix_data_array_t *members = array_of(&c, PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_PROC);
    const pmix_proc_t *procs = members ? members->array : NULL;

    expect_count("groups", v && v->type == PMIX_SIZE ? (uint32_t)v->data.size : 77, 2);
    if (!has_word(text_of(&b, PMIX_QUERY_GROUP_NAMES), "few") ||
        !has_word(text_of(&b, PMIX_QUERY_GROUP_NAMES), "all"))
        complain("groups: %s", text_of(&b, PMIX_QUERY_GROUP_NAMES));
    if (!members || members->size != 2 || procs[0].rank != 1 || procs[1].rank != 2)
        complain("members of a group of others");
    expect_groups(0, 1);
    expect_groups(2, 2);
    expect_missing("the groups of nobody", ASK(PMIX_GROUP_NAMES, TEXT(PMIX_NSPACE, "nobody")));
    expect_missing("a group that is none",
                   ASK(PMIX_QUERY_GROUP_MEMBERSHIP, TEXT(PMIX_GROUP_ID, "none")));
    a = ASK_BARE(PMIX_QUERY_NUM_PSETS);
    v = value_of(&a, PMIX_QUERY_NUM_PSETS);
    if (!v || v->type != PMIX_SIZE)
        complain("the number of process sets: %s", PMIx_Error_string(a.status));
}

/* ---- information on the job ------------------------------------------------------------------ */

static void expect_number(const char *key, struct answer a, uint32_t should)
{
    const pmix_value_t *v = value_of(&a, key);
    uint32_t is = v && v->type == PMIX_UINT32   ? v->data.uint32
                  : v && v->type == PMIX_UINT16 ? v->data.uint16
                                                : UINT32_MAX;

    if (is != should)
        complain("%s: %s, %u", key, PMIx_Error_string(a.status), is);
}

static void check_job_info(void)
{
    uint32_t first = 0;

    expect_number(PMIX_JOB_SIZE, ASK(PMIX_JOB_SIZE, TEXT(PMIX_NSPACE, job)), SIZE);
    expect_number(PMIX_NUM_NODES, ASK(PMIX_NUM_NODES, TEXT(PMIX_NSPACE, job)), nodes);
    expect_number(
        PMIX_APP_SIZE,
        ASK(PMIX_APP_SIZE, TEXT(PMIX_NSPACE, job), FLAG(PMIX_APP_INFO), U32(PMIX_APPNUM, &first)),
        SIZE);
    expect_number(PMIX_LOCAL_SIZE,
                  ASK(PMIX_LOCAL_SIZE, TEXT(PMIX_NSPACE, job), FLAG(PMIX_NODE_INFO),
                      TEXT(PMIX_HOSTNAME, last_host)),
                  SIZE / nodes);
    expect_number(PMIX_UNIV_SIZE,
                  ASK(PMIX_UNIV_SIZE, TEXT(PMIX_NSPACE, job), FLAG(PMIX_SESSION_INFO)), SIZE);
    expect_number(PMIX_APPNUM,
                  ASK(PMIX_APPNUM, TEXT(PMIX_NSPACE, job),
                      { PMIX_RANK, &(pmix_rank_t){ 2 }, PMIX_PROC_RANK }),
                  0);
}

/* ---- what the server can do ------------------------------------------------------------------ */

/* The attributes of one function alone. */
static void expect_function(const char *what, const struct answer *of, const char *function)
{
    const pmix_data_array_t *a = array_of(of, PMIX_QUERY_ATTRIBUTE_SUPPORT, PMIX_INFO);
    size_t n = a ? a->size : 0;

    if (PARTS_KEYS && n > 1)
        return;
    expect_count(what, (uint32_t)n, 1);
    if (n && strcmp(((const pmix_info_t *)a->array)->key, function) != 0)
        complain("%s: the attributes are those of another function", what);
}

/* Of wireup_client.h, which is not among OpenPMIx's headers. */
#define SIGNALS_QUERY "wireup.qry.signals"

/* As ctime() says it, and not in the future. */
static void check_start(void)
{
    struct answer a = ASK_BARE(PMIX_SERVER_START_TIME);
    const char *text = text_of(&a, PMIX_SERVER_START_TIME), *end;
    struct tm t = { .tm_isdst = -1 };

    end = strptime(text, "%a %b %d %H:%M:%S %Y", &t);
    if (!end || *end || mktime(&t) > time(NULL))
        complain("the start of the server: %s", text);
}

/* This one: its name and its address. */
static void check_servers(void)
{
    struct answer a = ASK_BARE(PMIX_QUERY_AVAIL_SERVERS);
    const pmix_data_array_t *list;
    const pmix_info_t *one;
    const pmix_value_t *name, *uri;

    if (LOOKS_ITSELF)
        return;
    list = array_of(&a, PMIX_QUERY_AVAIL_SERVERS, PMIX_INFO);
    one = list ? list->array : NULL;

    expect_count("servers", count_named(list, PMIX_SERVER_INFO_ARRAY), 1);
    if (!one || list->size == 0)
        return;
    name = inside(one, PMIX_SERVER_NSPACE);
    uri = inside(one, PMIX_SERVER_URI);
    if (!name || !uri || strncmp(uri->data.string, name->data.string, strlen(name->data.string)))
        complain("the address of the server");
}

static void check_abilities(void)
{
    const char *const two[] = { PMIX_QUERY_SUPPORTED_QUALIFIERS, PMIX_QUERY_MEMORY_USAGE, NULL };
    struct answer keys = ASK_BARE(PMIX_QUERY_SUPPORTED_KEYS);
    struct answer all =
        ask_all(two, (const struct qualifier[]){ TEXT(PMIX_NSPACE, job), { NULL } });
    struct answer calls = ASK(PMIX_QUERY_ATTRIBUTE_SUPPORT, FLAG(PMIX_HOST_FUNCTIONS));
    struct answer spawn =
        ASK(PMIX_QUERY_ATTRIBUTE_SUPPORT, TEXT(PMIX_HOST_ATTRIBUTES, "PMIx_Spawn"));
    struct answer signals = ASK_BARE(SIGNALS_QUERY);
    const char *words = text_of(&keys, PMIX_QUERY_SUPPORTED_KEYS);

    if (!has_word(words, NODE_USAGE) || !has_word(words, PMIX_QUERY_AUTHORIZATIONS))
        complain("keys: %s", words);
    words = text_of(&all, PMIX_QUERY_SUPPORTED_QUALIFIERS);
    if (!has_word(words, PMIX_QUERY_REPORT_AVG) || has_word(words, PMIX_STORAGE_ID) != PARTS_KEYS)
        complain("qualifiers of memory: %s", words);
    if (value_of(&all, PMIX_QUERY_RESULTS)) /* they would begin with PMIX_QUERY_QUALIFIERS */
        complain("the answers are in an array of results");
    words = text_of(&signals, SIGNALS_QUERY);
    if (!has_word(words, "SIGUSR1") || !has_word(words, "SIGINT") || has_word(words, "SIGQUIT"))
        complain("signals that are passed on: %s", words);
    if (!has_word(text_of(&calls, PMIX_QUERY_ATTRIBUTE_SUPPORT), "PMIx_Spawn"))
        complain("functions of the host");
    expect_function("host", &spawn, "PMIx_Spawn");
}

/* The functions of that level, and the attributes of one of them. */
static void check_level(const char *functions, const char *attributes, const char *function)
{
    struct answer names = ASK(PMIX_QUERY_ATTRIBUTE_SUPPORT, FLAG(functions));
    struct answer one = ASK(PMIX_QUERY_ATTRIBUTE_SUPPORT, TEXT(attributes, function));

    if (!has_word(text_of(&names, PMIX_QUERY_ATTRIBUTE_SUPPORT), function))
        complain("%s: %s", functions, text_of(&names, PMIX_QUERY_ATTRIBUTE_SUPPORT));
    expect_function(attributes, &one, function);
}

static void check_levels(void)
{
    check_level(PMIX_HOST_FUNCTIONS, PMIX_HOST_ATTRIBUTES, "PMIx_Get");
    check_level(PMIX_SERVER_FUNCTIONS, PMIX_SERVER_ATTRIBUTES, "PMIx_Get");
    if (WAITS_FOR_ITSELF)
        return;
    check_level(PMIX_TOOL_FUNCTIONS, PMIX_TOOL_ATTRIBUTES, "PMIx_tool_init");
    check_level(PMIX_CLIENT_FUNCTIONS, PMIX_CLIENT_ATTRIBUTES, "PMIx_Get");
}

static void check_unknown(void)
{
    const char *const keys[] = { PMIX_QUERY_NAMESPACES, "no.such", PMIX_QUERY_QUEUE_LIST, NULL };
    struct answer a = ask_all(keys, (const struct qualifier[]){ { NULL } });

    if (a.status != PMIX_ERR_PARTIAL_SUCCESS || a.n != !DROPS_PARTS)
        complain("some of several: %s, %zu answers", PMIx_Error_string(a.status), a.n);
    expect_missing("an unknown key", ASK_BARE("no.such"));
    expect_missing("queues", ASK_BARE(PMIX_QUERY_QUEUE_LIST));
}

/* A storage that nodes share, of which the version is known, and one of which it is not. */
static void check_version(void)
{
    struct answer a = ASK(PMIX_STORAGE_VERSION, TEXT(PMIX_STORAGE_ID, "server:/made"));

    if (strcmp(text_of(&a, PMIX_STORAGE_VERSION), "4.2") != 0)
        complain("the version of a storage: %s", text_of(&a, PMIX_STORAGE_VERSION));
    expect_missing("a version that is not known",
                   ASK(PMIX_STORAGE_VERSION, TEXT(PMIX_STORAGE_PATH, "/made/disk")));
}

static void check_made(void)
{
    check_table();
    check_devices();
    check_version();
    printf("query %u %s\n", nodes, wrong ? "WRONG" : "good");
}

static void check_everything(void)
{
    static void (*const checks[])(
        void) = { check_jobs,   check_table,    check_some_rows, check_places,  check_memory,
                  check_usage,  check_storage,  check_hardware,  check_devices, check_distances,
                  check_groups, check_job_info, check_abilities, check_levels,  check_unknown,
                  check_states, check_start,    check_servers };

    for (int again = 0; again < 2; again++) {
        refreshed = again;
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
            checks[i]();
    }
    printf("query %u %s\n", nodes, wrong ? "WRONG" : "good");
    fflush(stdout);
}

/* ---- who asks -------------------------------------------------------------------------------- */

static uint32_t number_of_nodes(void)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_value_t *v = NULL;

    if (PMIx_Get(&all, PMIX_NUM_NODES, NULL, 0, &v) != PMIX_SUCCESS || v->type != PMIX_UINT32)
        return 1;
    return v->data.uint32;
}

static void construct(const char *name, const pmix_proc_t *procs, size_t n)
{
    pmix_info_t *results = NULL;
    size_t nresults = 0;
    pmix_status_t rc = PMIx_Group_construct(name, procs, n, NULL, 0, &results, &nresults);

    if (rc != PMIX_SUCCESS)
        complain("the group %s: %s", name, PMIx_Error_string(rc));
}

static int run_process(void (*check)(void), bool waits)
{
    pmix_proc_t all, few[2];
    char line[16];

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    snprintf(job, sizeof job, "%s", me.nspace);
    all = process(PMIX_RANK_WILDCARD);
    few[0] = process(1);
    few[1] = process(2);
    nodes = number_of_nodes();
    near = SIZE / nodes;
    construct("all", &all, 1);
    if (me.rank)
        construct("few", few, 2);
    PMIx_Fence(NULL, 0, NULL, 0);
    if (me.rank == 0)
        check();
    if (me.rank == 0 && waits && !fgets(line, sizeof line, stdin))
        complain("no line");
    PMIx_Fence(NULL, 0, NULL, 0);
    PMIx_Finalize(NULL, 0);
    return wrong != 0;
}

/* ---- all nodes of the launcher --------------------------------------------------------------- */

static void must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        complain("%s: %s", what, PMIx_Error_string(rc));
}

/* What a job is told when it starts.  (OpenPMIx's client looks for neither key in its session.) */
static void check_allocated(void)
{
    pmix_value_t *number = NULL, *names = NULL;
    pmix_proc_t all;

    if (OPENPMIX)
        return;
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    must("get", PMIx_Get(&all, PMIX_NUM_ALLOCATED_NODES, NULL, 0, &number));
    must("get", PMIx_Get(&all, PMIX_ALLOCATED_NODELIST, NULL, 0, &names));
    if (number)
        expect_count(PMIX_NUM_ALLOCATED_NODES, number->data.uint32, nodes);
    if (names && nodes == 3 && strcmp(names->data.string, "n1,n2,n3") != 0)
        complain("%s: %s", PMIX_ALLOCATED_NODELIST, names->data.string);
    PMIX_VALUE_RELEASE(number);
    PMIX_VALUE_RELEASE(names);
}

static void check_members(uint32_t free_slots)
{
    struct answer a = ASK_BARE(AVAILABLE_SLOTS), b = ASK_BARE(ALLOCATION);
    const pmix_data_array_t *all = array_of(&b, ALLOCATION, PMIX_INFO);

    expect_number(AVAILABLE_SLOTS, a, free_slots);
    check_allocated();
    expect_count("nodes of the allocation", count_named(all, PMIX_NODE_INFO_ARRAY), nodes);
    for (size_t i = 0; all && i < all->size; i++) {
        const pmix_info_t *node = (const pmix_info_t *)all->array + i;
        const pmix_value_t *slots = inside(node, PMIX_NUM_SLOTS);
        if (!slots || slots->type != PMIX_UINT32 || slots->data.uint32 != 2)
            complain("node %zu has not two slots", i);
    }
}

/* A process on each node. */
static void spawn_members(const char *program, pmix_nspace_t child)
{
    pmix_info_t info;
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(program);
    app.maxprocs = (int)nodes;
    app.argv = calloc(4, sizeof *app.argv);
    app.argv[0] = strdup(program);
    app.argv[1] = strdup("members");
    asprintf(&app.argv[2], "%u", nodes);
    PMIX_INFO_LOAD(&info, PMIX_MAPBY, "ppr:1:node", PMIX_STRING);
    must("spawn", PMIx_Spawn(&info, 1, &app, 1, child));
    PMIX_APP_DESTRUCT(&app);
}

/* Parent and children run while the children ask. */
static int run_members(const char *program, uint32_t n)
{
    pmix_value_t *v = NULL;
    pmix_nspace_t child;
    pmix_proc_t both[2];

    nodes = n;
    must("init", PMIx_Init(&me, NULL, 0));
    if (PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &v) == PMIX_SUCCESS) {
        PMIX_LOAD_PROCID(&both[0], v->data.proc->nspace, PMIX_RANK_WILDCARD);
        PMIX_LOAD_PROCID(&both[1], me.nspace, PMIX_RANK_WILDCARD);
    } else {
        check_members(2 * nodes - 1);
        spawn_members(program, child);
        PMIX_LOAD_PROCID(&both[0], me.nspace, PMIX_RANK_WILDCARD);
        PMIX_LOAD_PROCID(&both[1], child, PMIX_RANK_WILDCARD);
    }
    must("connect", PMIx_Connect(both, 2, NULL, 0));
    if (v)
        check_members(nodes - 1);
    must("disconnect", PMIx_Disconnect(both, 2, NULL, 0));
    printf("query %s %s\n", v ? "child" : "parent", wrong ? "WRONG" : "good");
    PMIx_Finalize(NULL, 0);
    return wrong != 0;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static int ends[2];

static void on_end(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                   pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)handler, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    if (write(ends[1], status == PMIX_ERR_EXIT_NONZERO_TERM ? "x" : "t", 1) < 0)
        perror("write");
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* Rank 1 ends well, rank 2 does not, and then rank 0 asks. */
static int run_ends(void)
{
    pmix_status_t codes[] = { PMIX_EVENT_PROC_TERMINATED, PMIX_ERR_EXIT_NONZERO_TERM };
    char got[3];

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    snprintf(job, sizeof job, "%s", me.nspace);
    nodes = number_of_nodes();
    if (pipe(ends) < 0 || PMIx_Register_event_handler(codes, 2, NULL, 0, on_end, NULL, NULL) < 0)
        return 1;
    PMIx_Fence(NULL, 0, NULL, 0);
    if (me.rank == 0) {
        for (size_t i = 0; i < sizeof got; i++) { /* two ends, and the code of one */
            if (read(ends[0], &got[i], 1) != 1)
                return 1;
        }
        expect_state(1, PMIX_PROC_STATE_TERMINATED);
        expect_state(2, PMIX_PROC_STATE_TERM_NON_ZERO);
        expect_end(1, PMIX_SUCCESS);
        expect_end(2, PMIX_ERR_EXIT_NONZERO_TERM);
        printf("query ends %u %s\n", nodes, wrong ? "WRONG" : "good");
    }
    PMIx_Finalize(NULL, 0);
    return me.rank == 2 ? 7 : wrong;
}

/* The launcher hosts processes only if there is one node. */
static int run_tool(pid_t launcher, uint32_t n)
{
    pmix_info_t info;
    struct answer a;
    pmix_status_t rc;

    nodes = n;
    near = nodes == 1 ? SIZE : 0;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_PIDINFO, &launcher, PMIX_PID);
    rc = PMIx_tool_init(&me, &info, 1);
    if (rc != PMIX_SUCCESS) {
        printf("query WRONG: tool_init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    a = ASK_BARE(PMIX_QUERY_NAMESPACES);
    snprintf(job, sizeof job, "%s", text_of(&a, PMIX_QUERY_NAMESPACES));
    check_everything();
    PMIx_tool_finalize();
    return wrong != 0;
}

static void print_text(const char *key, const char *queue)
{
    pmix_query_t q = PMIX_QUERY_STATIC_INIT;
    pmix_info_t *results = NULL;
    pmix_status_t rc;
    size_t n = 0;

    PMIX_ARGV_APPEND(rc, q.keys, key);
    if (queue) {
        PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
        PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_ALLOC_QUEUE, queue, PMIX_STRING);
    }
    rc = PMIx_Query_info(&q, 1, &results, &n);
    printf("%s%s", queue || !strcmp(key, PMIX_QUERY_QUEUE_STATUS) ? " " : "",
           rc == PMIX_SUCCESS && n == 1 && results[0].value.type == PMIX_STRING
               ? results[0].value.data.string
               : PMIx_Error_string(rc));
    if (results)
        PMIX_INFO_FREE(results, n);
    PMIX_QUERY_DESTRUCT(&q);
}

static int run_queues(void)
{
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 2;
    print_text(PMIX_QUERY_QUEUE_LIST, NULL);
    print_text(PMIX_QUERY_QUEUE_STATUS, NULL);
    print_text(PMIX_QUERY_QUEUE_STATUS, "long");
    print_text(PMIX_QUERY_QUEUE_STATUS, "none");
    printf("\n");
    fflush(stdout);
    return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "queues"))
        return run_queues();
    if (argc == 4 && !strcmp(argv[1], "tool"))
        return run_tool((pid_t)atoi(argv[2]), (uint32_t)atoi(argv[3]));
    if (argc == 3 && !strcmp(argv[1], "members"))
        return run_members(argv[0], (uint32_t)atoi(argv[2]));
    if (argc == 2 && !strcmp(argv[1], "ends"))
        return run_ends();
    spoilt = argc == 2 && !strcmp(argv[1], "spoil");
    made = argc == 2 && !strcmp(argv[1], "made");
    if (made)
        sys = getenv("WU_SYS");
    return run_process(made ? check_made : check_everything, !spoilt && !made);
}
