/* jobkeys.c - the reserved keys that a launcher knows of a job, its nodes and its processes, from
 * each process, by name, by number, and by default.
 *
 *   jobkeys MAP-BY BIND-TO NODE-MAP CLUSTER OVERSUBSCRIBED
 *
 * Rank 0 prints how many ranks are good; each prints what is wrong. */
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "keeps.h"

static pmix_proc_t me, job;
static uint32_t size, own_node;
static bool ours; /* the client library is Wireup's */
static int wrong;

/* OpenPMIx 5's client asks nobody for the number of a node that is named, nor for the name of one
 * by its number. */
#if defined OPENPMIX && OPENPMIX >= 5
enum { OPENPMIX_5 = true };
#else
enum { OPENPMIX_5 = false };
#endif

#define COMPLAIN(...)                                                                              \
    do {                                                                                           \
        printf("jobkeys WRONG rank %u: ", me.rank);                                                \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        wrong = 1;                                                                                 \
    } while (0)

/* Where a value is looked for. */
struct place {
    const char *realm; /* PMIX_NODE_INFO, PMIX_SESSION_INFO, or NULL */
    const char *host;  /* or NULL */
    const uint32_t *number;
};

static pmix_status_t get(const pmix_proc_t *p, const char *key, const struct place *at,
                         pmix_value_t **v)
{
    pmix_info_t infos[3];
    bool yes = true;
    size_t n = 0;

    *v = NULL;
    if (at && at->realm)
        PMIX_INFO_LOAD(&infos[n++], at->realm, &yes, PMIX_BOOL);
    if (at && at->host)
        PMIX_INFO_LOAD(&infos[n++], PMIX_HOSTNAME, at->host, PMIX_STRING);
    if (at && at->number)
        PMIX_INFO_LOAD(&infos[n++], PMIX_NODEID, at->number, PMIX_UINT32);
    return PMIx_Get(p, key, infos, n, v);
}

/* NULL: not found, or of another type. */
static pmix_value_t *find(const pmix_proc_t *p, const char *key, const struct place *at,
                          pmix_data_type_t type)
{
    pmix_value_t *v;
    pmix_status_t rc = get(p, key, at, &v);

    if (rc != PMIX_SUCCESS)
        COMPLAIN("%s of rank %d: %s", key, (int)p->rank, PMIx_Error_string(rc));
    else if (v->type != type)
        COMPLAIN("%s of rank %d has type %d", key, (int)p->rank, v->type);
    return rc == PMIX_SUCCESS && v->type == type ? v : NULL;
}

static void expect_text(const pmix_proc_t *p, const char *key, const struct place *at,
                        const char *want)
{
    pmix_value_t *v = find(p, key, at, PMIX_STRING);

    if (v && strcmp(v->data.string, want) != 0)
        COMPLAIN("%s is '%s', not '%s'", key, v->data.string, want);
}

static void expect_start(const pmix_proc_t *p, const char *key, const char *want)
{
    pmix_value_t *v = find(p, key, NULL, PMIX_STRING);

    if (v && strncmp(v->data.string, want, strlen(want)) != 0)
        COMPLAIN("%s is '%s', not '%s...'", key, v->data.string, want);
}

static void expect_none(const pmix_proc_t *p, const char *key, const struct place *at)
{
    pmix_value_t *v;
    pmix_status_t rc = get(p, key, at, &v);

    if (rc != PMIX_ERR_NOT_FOUND)
        COMPLAIN("%s of rank %d: %s", key, (int)p->rank, PMIx_Error_string(rc));
}

static void expect_flag(const pmix_proc_t *p, const char *key, const struct place *at, bool want)
{
    pmix_value_t *v = find(p, key, at, PMIX_BOOL);

    if (v && v->data.flag != want)
        COMPLAIN("%s is %d", key, v->data.flag);
}

static void expect_number(const pmix_proc_t *p, const char *key, const struct place *at,
                          uint32_t want)
{
    pmix_value_t *v = find(p, key, at, PMIX_UINT32);

    if (v && v->data.uint32 != want)
        COMPLAIN("%s is %u, not %u", key, v->data.uint32, want);
}

static void expect_directory(const pmix_proc_t *p, const char *key)
{
    pmix_value_t *v = find(p, key, NULL, PMIX_STRING);
    struct stat st;

    if (v && (stat(v->data.string, &st) < 0 || !S_ISDIR(st.st_mode)))
        COMPLAIN("%s: '%s' is no directory", key, v->data.string);
}

static uint32_t number_of(const pmix_proc_t *p, const char *key)
{
    pmix_value_t *v = find(p, key, NULL, PMIX_UINT32);

    return v ? v->data.uint32 : UINT32_MAX;
}

static const char *text_of(const pmix_proc_t *p, const char *key, const struct place *at)
{
    pmix_value_t *v = find(p, key, at, PMIX_STRING);

    return v ? v->data.string : "";
}

static size_t parts_of(const char *text, char separator)
{
    size_t n = 1;

    for (; *text; text++)
        n += *text == separator;
    return n;
}

/* ---- where processes are --------------------------------------------------------------------- */

/* The ranks of each node, in the order of the nodes. */
static void list_ranks(const char *nodes, char *out, size_t room)
{
    char *list = strdup(nodes), *rest = list, *name;
    size_t n = 0;

    *out = '\0';
    while ((name = strsep(&rest, ","))) {
        const struct place at = { .realm = PMIX_NODE_INFO, .host = name };
        n += (size_t)snprintf(out + n, room - n, "%s%s", n ? ";" : "",
                              text_of(&job, PMIX_LOCAL_PEERS, &at));
    }
    free(list);
}

static void check_maps(const char *map_by)
{
    static const struct place app = { .realm = PMIX_APP_INFO };
    const char *nodes = text_of(&job, PMIX_NODE_LIST, NULL);
    char ranks[1024];

    list_ranks(nodes, ranks, sizeof ranks);
    expect_text(&job, PMIX_NODE_MAP_RAW, NULL, nodes);
    expect_text(&job, PMIX_PROC_MAP_RAW, NULL, ranks);
    expect_flag(&job, PMIX_HOSTNAME_KEEP_FQDN, NULL, true);
    expect_text(&job, PMIX_APP_MAP_TYPE, &app, map_by);
    expect_text(&job, PMIX_APP_MAP_REGEX, &app, text_of(&job, PMIX_PROC_MAP, NULL));
}

/* ---- of the job ------------------------------------------------------------------------------ */

static void check_job(char **words)
{
    static const struct place session = { .realm = PMIX_SESSION_INFO };

    expect_text(&job, PMIX_MAPBY, NULL, words[0]);
    expect_text(&job, PMIX_RANKBY, NULL, "slot");
    expect_text(&job, PMIX_BINDTO, NULL, words[1]);
    expect_text(&job, PMIX_NODE_MAP, NULL, words[2]);
    find(&job, PMIX_PROC_MAP, NULL, PMIX_STRING);
    expect_start(&job, PMIX_SERVER_NSPACE, "wireup-");
    find(&job, PMIX_SERVER_RANK, NULL, PMIX_PROC_RANK);
    expect_text(&job, PMIX_CLUSTER_ID, &session, words[3]);
    expect_directory(&job, PMIX_TMPDIR);
    expect_directory(&job, PMIX_NSDIR);
    expect_directory(&me, PMIX_PROCDIR);
    expect_flag(&job, PMIX_TDIR_RMCLEAN, NULL, true);
}

/* ---- of processes ---------------------------------------------------------------------------- */

static void check_bound(const pmix_proc_t *p)
{
    expect_start(p, PMIX_CPUSET, "hwloc:");
    expect_start(p, PMIX_LOCALITY_STRING, "hwloc:SK");
    find(p, PMIX_PACKAGE_RANK, NULL, PMIX_UINT16);
    find(p, PMIX_CPUSET_BITMAP, NULL, PMIX_PROC_CPUSET);
}

static void check_unbound(const pmix_proc_t *p)
{
    expect_none(p, PMIX_CPUSET, NULL);
    expect_none(p, PMIX_LOCALITY_STRING, NULL);
    expect_none(p, PMIX_PACKAGE_RANK, NULL);
    expect_none(p, PMIX_CPUSET_BITMAP, NULL);
}

static void check_ranks(bool bound)
{
    const char *host = text_of(&me, PMIX_HOSTNAME, NULL);

    for (uint32_t r = 0; r < size; r++) {
        pmix_proc_t p = job;
        p.rank = r;
        if (bound && !strcmp(text_of(&p, PMIX_HOSTNAME, NULL), host))
            check_bound(&p);
        else
            check_unbound(&p);
    }
    expect_none(&me, PMIX_PSET_NAMES, NULL);
}

static void check_devices(void)
{
    pmix_value_t *v;
    pmix_status_t rc = get(&me, PMIX_DEVICE_DISTANCES, NULL, &v);

    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_NOT_FOUND)
        COMPLAIN("devices: %s", PMIx_Error_string(rc));
    if (rc == PMIX_SUCCESS && (v->type != PMIX_DATA_ARRAY || v->data.darray->size == 0 ||
                               v->data.darray->type != PMIX_DEVICE_DIST))
        COMPLAIN("devices are something else");
    if (me.rank == 0)
        printf("devices %zu\n", rc == PMIX_SUCCESS ? v->data.darray->size : 0);
}

/* ---- of nodes -------------------------------------------------------------------------------- */

/* The processes of a list "0,3". */
static void check_procs(const struct place *at, const char *peers)
{
    pmix_value_t *v = find(&job, PMIX_LOCAL_PROCS, at, PMIX_DATA_ARRAY);
    pmix_data_array_t *a = v ? v->data.darray : NULL;

    if (!a)
        return;
    if (a->type != PMIX_PROC || a->size != parts_of(peers, ','))
        COMPLAIN("%zu processes on a node with %s", a->size, peers);
    for (size_t i = 0; i < a->size; i++) {
        const pmix_proc_t *p = (const pmix_proc_t *)a->array + i;
        if (strcmp(p->nspace, me.nspace) != 0 || p->rank != (uint32_t)strtoul(peers, NULL, 10))
            COMPLAIN("process %zu is %s.%u, not %s", i, p->nspace, p->rank, peers);
        peers += strcspn(peers, ",");
        peers += *peers == ',';
    }
}

static void check_own_node(bool bound, bool crowded)
{
    static const struct place here = { .realm = PMIX_NODE_INFO };
    const char *name = text_of(&me, PMIX_HOSTNAME, NULL);
    const struct place named = { .realm = PMIX_NODE_INFO, .host = name };
    const struct place numbered = { .realm = PMIX_NODE_INFO, .number = &own_node };
    const struct place *const ways[] = { NULL, &here, &named, &numbered };
    const char *peers = text_of(&job, PMIX_LOCAL_PEERS, NULL);

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!OPENPMIX_5 || ways[i] != &named)
            expect_number(&job, PMIX_NODEID, ways[i], own_node);
        if (!OPENPMIX_5 || ways[i] != &numbered)
            expect_text(&job, PMIX_HOSTNAME, ways[i], name);
        expect_flag(&job, PMIX_NODE_OVERSUBSCRIBED, ways[i], crowded);
        find(&job, PMIX_HOSTNAME_ALIASES, ways[i], PMIX_STRING);
        find(&job, PMIX_AVAIL_PHYS_MEMORY, ways[i], PMIX_UINT64);
        check_procs(ways[i], peers);
    }
    expect_number(&me, PMIX_NODEID, &here, own_node);
    expect_text(&me, PMIX_LOCAL_PEERS, NULL, peers);
    expect_flag(&me, PMIX_NODE_OVERSUBSCRIBED, NULL, crowded);
    if (!bound)
        expect_none(&job, PMIX_LOCAL_CPUSETS, NULL);
    else if (parts_of(text_of(&job, PMIX_LOCAL_CPUSETS, NULL), ':') != parts_of(peers, ','))
        COMPLAIN("the cpusets are not those of %s", peers);
}

static void check_other_node(uint32_t number, const char *name, bool crowded)
{
    const struct place named = { .realm = PMIX_NODE_INFO, .host = name };
    const struct place numbered = { .realm = PMIX_NODE_INFO, .number = &number };
    const struct place *const ways[] = { &named, &numbered };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        check_procs(ways[i], text_of(&job, PMIX_LOCAL_PEERS, ways[i]));
        expect_flag(&job, PMIX_NODE_OVERSUBSCRIBED, ways[i], crowded);
        expect_none(&job, PMIX_AVAIL_PHYS_MEMORY, ways[i]); /* only that node knows */
        expect_none(&job, PMIX_LOCAL_CPUSETS, ways[i]);
        if (!ours) /* OpenPMIx looks these up nowhere for other nodes */
            continue;
        expect_number(&job, PMIX_NODEID, ways[i], number);
        expect_text(&job, PMIX_HOSTNAME, ways[i], name);
    }
}

static void check_nodes(bool bound, bool crowded)
{
    static const uint32_t beyond = 77;
    const struct place nowhere = { .realm = PMIX_NODE_INFO, .number = &beyond };
    char *list = strdup(text_of(&job, PMIX_NODE_LIST, NULL)), *rest = list, *name;

    check_own_node(bound, crowded);
    for (uint32_t n = 0; (name = strsep(&rest, ",")); n++) {
        if (n != own_node)
            check_other_node(n, name, crowded);
    }
    expect_none(&job, PMIX_LOCAL_PROCS, &nowhere);
    free(list);
}

int main(int argc, char **argv)
{
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);
    bool bound;

    if (rc != PMIX_SUCCESS || argc != 6) {
        printf("jobkeys WRONG start: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    job = me;
    job.rank = PMIX_RANK_WILDCARD;
    ours = strstr(PMIx_Get_version(), "Wireup") != NULL;
    size = number_of(&job, PMIX_JOB_SIZE);
    own_node = number_of(&me, PMIX_NODEID);
    bound = strcmp(argv[2], "none") != 0;
    PMIx_Fence(NULL, 0, NULL, 0); /* all are there, and */
    check_job(argv + 1);
    check_maps(argv[1]);
    check_ranks(bound);
    check_devices();
    check_nodes(bound, !strcmp(argv[5], "crowded"));
    PMIx_Fence(NULL, 0, NULL, 0); /* stay to the end */
    if (!wrong && me.rank == 0)
        printf("jobkeys %u good\n", size);
    PMIx_Finalize(NULL, 0);
    return wrong;
}
