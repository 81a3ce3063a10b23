/* structures.c - the life of PMIx's structures.  One on the stack is constructed before it is used
 * and destructed afterwards: that frees what was put into it.  An array is created and freed with
 * its length.  No launcher is needed.
 *
 *   ./structures */
#define EXAMPLE "structures"
#include "../pmix/example.h"

/* A value of any type. */
static void value(void)
{
    pmix_value_t one, *some;

    PMIx_Value_construct(&one);
    PMIx_Value_destruct(&one);
    some = PMIx_Value_create(2);
    if (!some)
        fail("no memory");
    PMIx_Value_free(some, 2);
}

/* A key with a value: an attribute of a call. */
static void info(void)
{
    pmix_info_t one, *some;

    PMIx_Info_construct(&one);
    PMIx_Info_destruct(&one);
    some = PMIx_Info_create(2);
    if (!some)
        fail("no memory");
    PMIx_Info_free(some, 2);
}

/* A name with a value, and who published it. */
static void pdata(void)
{
    pmix_pdata_t one, *some;

    PMIx_Pdata_construct(&one);
    PMIx_Pdata_destruct(&one);
    some = PMIx_Pdata_create(2);
    if (!some)
        fail("no memory");
    PMIx_Pdata_free(some, 2);
}

/* A program to spawn. */
static void app(void)
{
    pmix_app_t one, *some;

    PMIx_App_construct(&one);
    PMIx_App_destruct(&one);
    some = PMIx_App_create(2);
    if (!some)
        fail("no memory");
    PMIx_App_free(some, 2);
}

/* What is asked, with qualifiers. */
static void query(void)
{
    pmix_query_t one, *some;

    PMIx_Query_construct(&one);
    PMIx_Query_destruct(&one);
    some = PMIx_Query_create(2);
    if (!some)
        fail("no memory");
    PMIx_Query_free(some, 2);
}

/* A process. */
static void proc(void)
{
    pmix_proc_t one, *some;

    PMIx_Proc_construct(&one);
    PMIx_Proc_destruct(&one);
    some = PMIx_Proc_create(2);
    if (!some)
        fail("no memory");
    PMIx_Proc_free(some, 2);
}

/* What a process table tells of a process. */
static void proc_info(void)
{
    pmix_proc_info_t one, *some;

    PMIx_Proc_info_construct(&one);
    PMIx_Proc_info_destruct(&one);
    some = PMIx_Proc_info_create(2);
    if (!some)
        fail("no memory");
    PMIx_Proc_info_free(some, 2);
}

/* Bytes with a length. */
static void byte_object(void)
{
    pmix_byte_object_t one, *some;

    PMIx_Byte_object_construct(&one);
    PMIx_Byte_object_destruct(&one);
    some = PMIx_Byte_object_create(2);
    if (!some)
        fail("no memory");
    PMIx_Byte_object_free(some, 2);
}

/* A change of an environment variable. */
static void envar(void)
{
    pmix_envar_t one, *some;

    PMIx_Envar_construct(&one);
    PMIx_Envar_destruct(&one);
    some = PMIx_Envar_create(2);
    if (!some)
        fail("no memory");
    PMIx_Envar_free(some, 2);
}

/* A place in a fabric; PMIx_Coord_create() takes the dimensions and the number of coordinates. */
static void coord(void)
{
    pmix_coord_t one, *some;

    PMIx_Coord_construct(&one);
    PMIx_Coord_destruct(&one);
    some = PMIx_Coord_create(3, 2);
    PMIx_Coord_free(some, 2);
}

/* Processors of a machine. */
static void cpuset(void)
{
    pmix_cpuset_t one, *some;

    PMIx_Cpuset_construct(&one);
    PMIx_Cpuset_destruct(&one);
    some = PMIx_Cpuset_create(2);
    if (!some)
        fail("no memory");
    PMIx_Cpuset_free(some, 2);
}

/* A machine. */
static void topology(void)
{
    pmix_topology_t one, *some;

    PMIx_Topology_construct(&one);
    PMIx_Topology_destruct(&one);
    some = PMIx_Topology_create(2);
    if (!some)
        fail("no memory");
    PMIx_Topology_free(some, 2);
}

/* Places of a device in a fabric. */
static void geometry(void)
{
    pmix_geometry_t one, *some;

    PMIx_Geometry_construct(&one);
    PMIx_Geometry_destruct(&one);
    some = PMIx_Geometry_create(2);
    if (!some)
        fail("no memory");
    PMIx_Geometry_free(some, 2);
}

/* A device. */
static void device(void)
{
    pmix_device_t one, *some;

    PMIx_Device_construct(&one);
    PMIx_Device_destruct(&one);
    some = PMIx_Device_create(2);
    if (!some)
        fail("no memory");
    PMIx_Device_free(some, 2);
}

/* How far a device is. */
static void device_distance(void)
{
    pmix_device_distance_t one, *some;

    PMIx_Device_distance_construct(&one);
    PMIx_Device_distance_destruct(&one);
    some = PMIx_Device_distance_create(2);
    if (!some)
        fail("no memory");
    PMIx_Device_distance_free(some, 2);
}

/* An endpoint of a network. */
static void endpoint(void)
{
    pmix_endpoint_t one, *some;

    PMIx_Endpoint_construct(&one);
    PMIx_Endpoint_destruct(&one);
    some = PMIx_Endpoint_create(2);
    if (!some)
        fail("no memory");
    PMIx_Endpoint_free(some, 2);
}

/* An attribute that a host offers. */
static void regattr(void)
{
    pmix_regattr_t one, *some;

    PMIx_Regattr_construct(&one);
    PMIx_Regattr_destruct(&one);
    some = PMIx_Regattr_create(2);
    if (!some)
        fail("no memory");
    PMIx_Regattr_free(some, 2);
}

/* An amount of a resource. */
static void resource_unit(void)
{
    pmix_resource_unit_t one, *some;

    PMIx_Resource_unit_construct(&one);
    PMIx_Resource_unit_destruct(&one);
    some = PMIx_Resource_unit_create(2);
    if (!some)
        fail("no memory");
    PMIx_Resource_unit_free(some, 2);
}

/* A process by its node and pid. */
static void node_pid(void)
{
    pmix_node_pid_t one, *some;

    PMIx_Node_pid_construct(&one);
    PMIx_Node_pid_destruct(&one);
    some = PMIx_Node_pid_create(2);
    if (!some)
        fail("no memory");
    PMIx_Node_pid_free(some, 2);
}

/* What a process uses. */
static void proc_stats(void)
{
    pmix_proc_stats_t one, *some;

    PMIx_Proc_stats_construct(&one);
    PMIx_Proc_stats_destruct(&one);
    some = PMIx_Proc_stats_create(2);
    if (!some)
        fail("no memory");
    PMIx_Proc_stats_free(some, 2);
}

/* What a disk does. */
static void disk_stats(void)
{
    pmix_disk_stats_t one, *some;

    PMIx_Disk_stats_construct(&one);
    PMIx_Disk_stats_destruct(&one);
    some = PMIx_Disk_stats_create(2);
    if (!some)
        fail("no memory");
    PMIx_Disk_stats_free(some, 2);
}

/* What a network device does. */
static void net_stats(void)
{
    pmix_net_stats_t one, *some;

    PMIx_Net_stats_construct(&one);
    PMIx_Net_stats_destruct(&one);
    some = PMIx_Net_stats_create(2);
    if (!some)
        fail("no memory");
    PMIx_Net_stats_free(some, 2);
}

/* What a node uses. */
static void node_stats(void)
{
    pmix_node_stats_t one, *some;

    PMIx_Node_stats_construct(&one);
    PMIx_Node_stats_destruct(&one);
    some = PMIx_Node_stats_create(2);
    if (!some)
        fail("no memory");
    PMIx_Node_stats_free(some, 2);
}

/* Elements of one type with their number, as many attributes carry them. */
static void data_array(void)
{
    pmix_data_array_t one, *made;

    PMIx_Data_array_construct(&one, 2, PMIX_UINT32); /* with room for two */
    ((uint32_t *)one.array)[1] = 7;
    PMIx_Data_array_destruct(&one);
    PMIx_Data_array_init(&one, PMIX_UINT32); /* with none */
    if (one.array || one.size)
        fail("an array that was not made");
    made = PMIx_Data_array_create(3, PMIX_PROC);
    PMIx_Data_array_free(made);
}

/* Values packed one after the other (buffers.c). */
static void data_buffer(void)
{
    pmix_data_buffer_t one, *made;

    PMIx_Data_buffer_construct(&one);
    PMIx_Data_buffer_destruct(&one);
    made = PMIx_Data_buffer_create();
    PMIx_Data_buffer_release(made);
}

/* What a fabric of the node looks like to the library. */
static void fabric(void)
{
    pmix_fabric_t one;

    PMIx_Fabric_construct(&one);
    if (one.ninfo)
        fail("a fabric that was not registered");
}

/* A program that was created is released with all that is in it; so is a query. */
static void release(void)
{
    pmix_app_t *app = PMIx_App_create(1);
    pmix_query_t *query = PMIx_Query_create(1);

    app->cmd = strdup("true");
    PMIx_App_info_create(app, 1);
    PMIx_Info_load(&app->info[0], PMIX_WDIR, "/tmp", PMIX_STRING);
    PMIx_App_release(app);
    PMIx_Query_qualifiers_create(query, 1);
    PMIx_Info_load(&query->qualifiers[0], PMIX_NSPACE, "job", PMIX_STRING);
    PMIx_Query_release(query);
}

int main(void)
{

    value();
    info();
    pdata();
    app();
    query();
    proc();
    proc_info();
    byte_object();
    envar();
    coord();
    cpuset();
    topology();
    geometry();
    device();
    device_distance();
    endpoint();
    regattr();
    resource_unit();
    node_pid();
    proc_stats();
    disk_stats();
    net_stats();
    node_stats();
    data_array();
    data_buffer();
    fabric();
    release();
    printf(EXAMPLE ": good\n");
    return 0;
}
