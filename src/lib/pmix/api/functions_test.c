/* functions_test.c - the functions that are there for every structure, and those that name a value:
 * each is called.  (scripts/standard-coverage checks that some test names each function.) */
#include "tests/tap.h"

#include "pmix_server.h"
#include "pmix_tool.h"

/* ---- the four of every structure ------------------------------------------------------------- */

static bool is_empty(const void *item, size_t size)
{
    const unsigned char *byte = item;
    bool empty = true;

    for (size_t i = 0; i < size; i++)
        empty = empty && byte[i] == 0;
    return empty;
}

/* Construct makes it empty, destruct leaves it so, also twice; create makes n empty ones, and none
 * for 0; free takes them, and nothing. */
#define FOUR(type, construct, destruct, create, release)                                           \
    do {                                                                                           \
        type one, *many;                                                                           \
        memset(&one, 0x55, sizeof one);                                                            \
        construct(&one);                                                                           \
        OK_F(is_empty(&one, sizeof one), #construct);                                              \
        destruct(&one);                                                                            \
        destruct(&one);                                                                            \
        OK_F(is_empty(&one, sizeof one), #destruct);                                               \
        many = create(3);                                                                          \
        OK_F(many &&is_empty(many, 3 * sizeof *many) && !create(0), #create);                      \
        release(many, many ? 3 : 0);                                                               \
        release(NULL, 0);                                                                          \
    } while (0)

static void test_structures(void)
{
    FOUR(pmix_byte_object_t, PMIx_Byte_object_construct, PMIx_Byte_object_destruct,
         PMIx_Byte_object_create, PMIx_Byte_object_free);
    FOUR(pmix_envar_t, PMIx_Envar_construct, PMIx_Envar_destruct, PMIx_Envar_create,
         PMIx_Envar_free);
    FOUR(pmix_cpuset_t, PMIx_Cpuset_construct, PMIx_Cpuset_destruct, PMIx_Cpuset_create,
         PMIx_Cpuset_free);
    FOUR(pmix_topology_t, PMIx_Topology_construct, PMIx_Topology_destruct, PMIx_Topology_create,
         PMIx_Topology_free);
    FOUR(pmix_geometry_t, PMIx_Geometry_construct, PMIx_Geometry_destruct, PMIx_Geometry_create,
         PMIx_Geometry_free);
    FOUR(pmix_device_distance_t, PMIx_Device_distance_construct, PMIx_Device_distance_destruct,
         PMIx_Device_distance_create, PMIx_Device_distance_free);
    FOUR(pmix_endpoint_t, PMIx_Endpoint_construct, PMIx_Endpoint_destruct, PMIx_Endpoint_create,
         PMIx_Endpoint_free);
    FOUR(pmix_regattr_t, PMIx_Regattr_construct, PMIx_Regattr_destruct, PMIx_Regattr_create,
         PMIx_Regattr_free);
    FOUR(pmix_disk_stats_t, PMIx_Disk_stats_construct, PMIx_Disk_stats_destruct,
         PMIx_Disk_stats_create, PMIx_Disk_stats_free);
    FOUR(pmix_net_stats_t, PMIx_Net_stats_construct, PMIx_Net_stats_destruct, PMIx_Net_stats_create,
         PMIx_Net_stats_free);
    FOUR(pmix_value_t, PMIx_Value_construct, PMIx_Value_destruct, PMIx_Value_create,
         PMIx_Value_free);
    FOUR(pmix_info_t, PMIx_Info_construct, PMIx_Info_destruct, PMIx_Info_create, PMIx_Info_free);
}

/* Those with a process in them, which is nobody. */
static void test_processes(void)
{
    pmix_proc_t p, *many = PMIx_Proc_create(2);
    pmix_proc_info_t info, *infos = PMIx_Proc_info_create(2);
    pmix_proc_stats_t stats, *all = PMIx_Proc_stats_create(2);
    pmix_node_stats_t node, *nodes = PMIx_Node_stats_create(2);
    pmix_pdata_t pdata, *found = PMIx_Pdata_create(2);

    PMIx_Proc_construct(&p);
    OK(p.rank == PMIX_RANK_UNDEF && !*p.nspace && many && many[1].rank == PMIX_RANK_UNDEF);
    PMIx_Proc_destruct(&p);
    PMIx_Proc_free(many, 2);
    PMIx_Proc_info_construct(&info);
    OK(!info.hostname && !info.executable_name && !info.pid && infos && !infos[1].hostname);
    info.hostname = strdup("node");
    PMIx_Proc_info_destruct(&info);
    OK(!info.hostname);
    PMIx_Proc_info_free(infos, 2);
    PMIx_Proc_stats_construct(&stats);
    OK(!stats.node && !stats.cmd && !stats.pid && all && !all[1].node);
    stats.node = strdup("node");
    PMIx_Proc_stats_destruct(&stats);
    OK(!stats.node);
    PMIx_Proc_stats_free(all, 2);
    PMIx_Node_stats_construct(&node);
    OK(!node.node && !node.ndiskstats && nodes && !nodes[1].node);
    node.node = strdup("node");
    PMIx_Node_stats_destruct(&node);
    OK(!node.node);
    PMIx_Node_stats_free(nodes, 2);
    PMIx_Pdata_construct(&pdata);
    OK(!*pdata.key && pdata.value.type == PMIX_UNDEF && found && !*found[1].key);
    PMIx_Pdata_destruct(&pdata);
    PMIx_Pdata_free(found, 2);
}

static void test_arrays(void)
{
    pmix_coord_t one, *many;
    pmix_data_array_t a;

    PMIx_Coord_construct(&one);
    OK(!one.coord && !one.dims);
    PMIx_Coord_destruct(&one);
    many = PMIx_Coord_create(3, 2);
    OK(many && many[1].dims == 3 && many[1].coord && many[1].coord[2] == 0);
    PMIx_Coord_free(many, 2);
    PMIx_Data_array_construct(&a, 2, PMIX_UINT32);
    OK(a.size == 2 && a.type == PMIX_UINT32 && a.array && ((uint32_t *)a.array)[1] == 0);
    PMIx_Data_array_destruct(&a);
    PMIx_Data_array_init(&a, PMIX_PROC);
    OK(a.size == 0 && a.type == PMIX_PROC && !a.array);
}

/* ---- names of processes ---------------------------------------------------------------------- */

static void test_names(void)
{
    pmix_proc_t a, b;

    PMIx_Proc_load(&a, "job", 3);
    PMIx_Xfer_procid(&b, &a);
    OK(PMIx_Check_procid(&a, &b) && b.rank == 3);
    b.rank = PMIX_RANK_WILDCARD;
    OK(PMIx_Check_procid(&a, &b) && PMIx_Check_rank(a.rank, b.rank));
    b.rank = 4;
    OK(!PMIx_Check_procid(&a, &b) && !PMIx_Check_rank(a.rank, b.rank));
    OK(PMIx_Check_nspace("job", "job") && !PMIx_Check_nspace("job", "jobs"));
    OK(!PMIx_Nspace_invalid("job") && PMIx_Nspace_invalid(""));
    OK(!PMIx_Procid_invalid(&a));
    a.rank = PMIX_RANK_INVALID;
    OK(PMIx_Procid_invalid(&a));
}

/* ---- names of values ------------------------------------------------------------------------- */

#define NAMED(function, value, other)                                                              \
    do {                                                                                           \
        const char *name = function(value);                                                        \
        OK_F(name &&*name &&strcmp(name, function(other)) != 0, #function ": %s", name);           \
    } while (0)

static void test_texts(void)
{
    NAMED(PMIx_Alloc_directive_string, PMIX_ALLOC_NEW, PMIX_ALLOC_EXTEND);
    NAMED(PMIx_Data_range_string, PMIX_RANGE_LOCAL, PMIX_RANGE_GLOBAL);
    NAMED(PMIx_Device_type_string, PMIX_DEVTYPE_GPU, PMIX_DEVTYPE_NETWORK);
    NAMED(PMIx_IOF_channel_string, PMIX_FWD_STDOUT_CHANNEL, PMIX_FWD_STDERR_CHANNEL);
    NAMED(PMIx_Job_state_string, PMIX_JOB_STATE_RUNNING, PMIX_JOB_STATE_TERMINATED);
    NAMED(PMIx_Link_state_string, PMIX_LINK_UP, PMIX_LINK_DOWN);
    NAMED(PMIx_Persistence_string, PMIX_PERSIST_PROC, PMIX_PERSIST_APP);
    NAMED(PMIx_Proc_state_string, PMIX_PROC_STATE_RUNNING, PMIX_PROC_STATE_TERMINATED);
    NAMED(PMIx_Scope_string, PMIX_LOCAL, PMIX_GLOBAL);
    NAMED(PMIx_Value_comparison_string, PMIX_EQUAL, PMIX_VALUE1_GREATER);
}

static void test_argv(void)
{
    char **argv = PMIx_Argv_split_with_empty("a,,b", ',');

    OK(argv && !strcmp(argv[0], "a") && !*argv[1] && !strcmp(argv[2], "b") && !argv[3]);
    PMIx_Argv_free(argv);
}

int main(void)
{
    test_structures();
    test_processes();
    test_arrays();
    test_names();
    test_texts();
    test_argv();
    return tap_done();
}
