/* pmix_items.h - one of everything: named PMIx items, each with fixed content.
 *
 * tests/golden/pmix-capture packs them with the system's OpenPMIx and records the bytes; the
 * codec's test packs and unpacks the same items and compares.  Include once; items_make() fills the
 * table.
 */
#ifndef WIREUP_TESTS_PMIX_ITEMS_H
#define WIREUP_TESTS_PMIX_ITEMS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_common.h"

struct item {
    const char *name;
    uint16_t type;
    int32_t n;
    const void *src;
};

enum { ITEMS_MAX = 200 };

static struct item items[ITEMS_MAX];
static size_t items_count;

static void item_add(const char *name, uint16_t type, int32_t n, const void *src, size_t size)
{
    void *copy = malloc(size ? size : 1); /* lives as long as the process */

    if (!copy || items_count == ITEMS_MAX)
        abort();
    memcpy(copy, src, size);
    items[items_count++] = (struct item){ name, type, n, copy };
}

#define ITEM(name, type, ctype, ...)                                                               \
    do {                                                                                           \
        ctype item_[] = { __VA_ARGS__ };                                                           \
        item_add(name, type, (int32_t)(sizeof item_ / sizeof item_[0]), item_, sizeof item_);      \
    } while (0)

#define VALUE(name, type_, member, ...)                                                            \
    do {                                                                                           \
        pmix_value_t value_;                                                                       \
        memset(&value_, 0, sizeof value_);                                                         \
        value_.type = type_;                                                                       \
        value_.data.member = __VA_ARGS__;                                                          \
        item_add("value " name, PMIX_VALUE, 1, &value_, sizeof value_);                            \
    } while (0)

static void items_numbers(void)
{
    ITEM("bool", PMIX_BOOL, bool, true, false);
    ITEM("byte", PMIX_BYTE, uint8_t, 0xab);
    ITEM("uint8", PMIX_UINT8, uint8_t, 0, 127, 128, 255);
    ITEM("int8", PMIX_INT8, int8_t, -85);
    ITEM("size", PMIX_SIZE, size_t, 300);
    ITEM("size edges", PMIX_SIZE, size_t, 0, 1, 127, 128, SIZE_MAX);
    ITEM("pid", PMIX_PID, pid_t, 1234);
    ITEM("int zero", PMIX_INT, int, 0);
    ITEM("int one", PMIX_INT, int, 1);
    ITEM("int minus one", PMIX_INT, int, -1);
    ITEM("int edges", PMIX_INT, int, 63, 64, -24, -64, -65, INT_MIN, INT_MAX);
    ITEM("int16", PMIX_INT16, int16_t, -5, 1000, INT16_MIN, INT16_MAX);
    ITEM("int32", PMIX_INT32, int32_t, -24, INT32_MIN, INT32_MAX);
    ITEM("int64", PMIX_INT64, int64_t, -1000000000000, INT64_MIN, INT64_MAX, 0);
    ITEM("uint", PMIX_UINT, unsigned, 5, 0xffffffffu);
    ITEM("uint16", PMIX_UINT16, uint16_t, 127, 128, 65535);
    ITEM("uint32", PMIX_UINT32, uint32_t, 0x12345678, 0xfffffffe);
    ITEM("uint64", PMIX_UINT64, uint64_t, (UINT64_C(1) << 56) - 1, UINT64_C(1) << 56, UINT64_MAX);
    ITEM("float", PMIX_FLOAT, float, 3.14f);
    ITEM("float small", PMIX_FLOAT, float, 1e-7f, -0.0f, 0.5f, -1e9f, 3e38f);
    ITEM("double", PMIX_DOUBLE, double, 2.5);
    ITEM("double edges", PMIX_DOUBLE, double, 1e300, -1e-300, 0.0000005, 0.0000015, 1e15, 123456.7);
    ITEM("timeval", PMIX_TIMEVAL, struct timeval, { 1, 500000 }, { -1, 0 });
    ITEM("time", PMIX_TIME, time_t, 1700000000);
    ITEM("status", PMIX_STATUS, pmix_status_t, -46, 0, -1366);
    ITEM("no numbers", PMIX_UINT32, uint32_t);
}

static void items_words(void)
{
    static char hello[] = "hello", a[] = "a", empty[] = "", regex[] = "raw:n0,n1";
    static char native[] = "pmix[node[2:1-3],x[1:9]]";

    ITEM("string", PMIX_STRING, char *, hello);
    ITEM("string and null", PMIX_STRING, char *, a, NULL);
    ITEM("string empty", PMIX_STRING, char *, empty);
    ITEM("regex raw", PMIX_REGEX, char *, regex);
    ITEM("regex native", PMIX_REGEX, char *, native);
    ITEM("rank", PMIX_PROC_RANK, pmix_rank_t, PMIX_RANK_WILDCARD, PMIX_RANK_UNDEF, 0);
    ITEM("scope", PMIX_SCOPE, pmix_scope_t, PMIX_GLOBAL);
    ITEM("data range", PMIX_DATA_RANGE, pmix_data_range_t, PMIX_RANGE_NAMESPACE);
    ITEM("persistence", PMIX_PERSIST, pmix_persistence_t, PMIX_PERSIST_APP);
    ITEM("command", PMIX_COMMAND, uint8_t, 3);
    ITEM("info directives", PMIX_INFO_DIRECTIVES, pmix_info_directives_t, 1, 0x80000000);
    ITEM("data type", PMIX_DATA_TYPE, pmix_data_type_t, PMIX_DATA_ARRAY);
    ITEM("proc state", PMIX_PROC_STATE, pmix_proc_state_t, 5);
    ITEM("alloc directive", PMIX_ALLOC_DIRECTIVE, pmix_alloc_directive_t, 1, 128);
    ITEM("iof channel", PMIX_IOF_CHANNEL, pmix_iof_channel_t, 6);
    ITEM("job state", PMIX_JOB_STATE, pmix_job_state_t, 3);
    ITEM("link state", PMIX_LINK_STATE, pmix_link_state_t, 1);
    ITEM("device type", PMIX_DEVTYPE, pmix_device_type_t, 2);
    ITEM("locality", PMIX_LOCTYPE, pmix_locality_t, 0x4000);
    ITEM("medium", PMIX_STOR_MEDIUM, uint64_t, 0x10);
    ITEM("accessibility", PMIX_STOR_ACCESS, uint64_t, 2);
    ITEM("storage persistence", PMIX_STOR_PERSIST, uint64_t, 4);
    ITEM("access type", PMIX_STOR_ACCESS_TYPE, uint16_t, 3);
    ITEM("pointer", PMIX_POINTER, void *, hello);
}

/* Content of the structs; all of it lives as long as the process. */
static char item_x[] = "x", item_y[] = "-y", item_env[] = "A=B", item_dir[] = "/", item_u[] = "u";
static char item_o[] = "o", item_bytes[] = "\1\2\3", item_key[] = "pmix.qry.ns",
            item_desc[] = "desc";
static char item_node[] = "nd", item_eth[] = "eth0", item_host[] = "h", item_value[] = "ans";
static char *item_argv[] = { item_x, item_y, NULL }, *item_envv[] = { item_env, NULL };
static char *item_keys[] = { item_key, item_x, NULL }, *item_descs[] = { item_desc, item_o, NULL };
static uint32_t item_dims[] = { 4, 5 };
static uint32_t item_u32s[] = { 1, 2, 300 };
static pmix_coord_t item_coords[] = { { 1, item_dims, 2 }, { 2, NULL, 0 } };
static pmix_data_array_t item_u32_array = { .type = PMIX_UINT32, .size = 3, .array = item_u32s };

static pmix_proc_t item_proc(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t p;

    memset(&p, 0, sizeof p);
    strncpy(p.nspace, nspace, PMIX_MAX_NSLEN);
    p.rank = rank;
    return p;
}

static pmix_info_t item_info(const char *key, uint32_t flags, uint32_t v)
{
    pmix_info_t i;

    memset(&i, 0, sizeof i);
    strncpy(i.key, key, PMIX_MAX_KEYLEN);
    i.flags = flags;
    i.value.type = PMIX_UINT32;
    i.value.data.uint32 = v;
    return i;
}

static void items_structs(void)
{
    static pmix_info_t info;
    pmix_proc_t proc = item_proc("ns", 3), all = item_proc("testns", PMIX_RANK_WILDCARD);
    pmix_pdata_t pdata;
    pmix_regattr_t reg;
    pmix_byte_object_t bo = { item_bytes, 3 }, none = { NULL, 0 };

    info = item_info("pmix.timeout", 0, 60);
    ITEM("proc", PMIX_PROC, pmix_proc_t, proc, all);
    item_add("nspace", PMIX_PROC_NSPACE, 1, proc.nspace, sizeof proc.nspace);
    ITEM("info", PMIX_INFO, pmix_info_t, info);
    ITEM("info required", PMIX_INFO, pmix_info_t, item_info("pmix.timeout", 1, 7));
    memset(&pdata, 0, sizeof pdata);
    pdata.proc = item_proc("ns", 1);
    strcpy(pdata.key, "k");
    pdata.value.type = PMIX_INT;
    pdata.value.data.integer = 9;
    ITEM("pdata", PMIX_PDATA, pmix_pdata_t, pdata);
    ITEM("byte object", PMIX_BYTE_OBJECT, pmix_byte_object_t, bo, none);
    ITEM("compressed string", PMIX_COMPRESSED_STRING, pmix_byte_object_t, bo);
    ITEM("compressed bytes", PMIX_COMPRESSED_BYTE_OBJECT, pmix_byte_object_t, bo);
    ITEM("proc info", PMIX_PROC_INFO, pmix_proc_info_t,
         { .proc = item_proc("ns", 0),
           .hostname = item_host,
           .executable_name = item_x,
           .pid = 99,
           .exit_code = 7,
           .state = 5 });
    ITEM("data array", PMIX_DATA_ARRAY, pmix_data_array_t, item_u32_array);
    ITEM("data array empty", PMIX_DATA_ARRAY, pmix_data_array_t, { .type = PMIX_UINT32 });
    ITEM("data array undef", PMIX_DATA_ARRAY, pmix_data_array_t, { .type = PMIX_UNDEF });
    ITEM("query", PMIX_QUERY, pmix_query_t, { .keys = item_keys, .qualifiers = &info, .nqual = 1 });
    ITEM("query empty", PMIX_QUERY, pmix_query_t, { .keys = NULL });
    ITEM("app", PMIX_APP, pmix_app_t,
         { .cmd = item_x, .argv = item_argv, .env = item_envv, .cwd = item_dir, .maxprocs = 2 });
    ITEM("app infos", PMIX_APP, pmix_app_t, { .cmd = item_x, .info = &info, .ninfo = 1 });
    ITEM("envar", PMIX_ENVAR, pmix_envar_t, { item_x, item_y, ':' });
    ITEM("coord", PMIX_COORD, pmix_coord_t, item_coords[0], item_coords[1]);
    memset(&reg, 0, sizeof reg);
    reg.name = item_x;
    strcpy(reg.string, "pmix.n");
    reg.type = PMIX_STRING;
    reg.description = item_descs;
    ITEM("regattr", PMIX_REGATTR, pmix_regattr_t, reg);
    ITEM("geometry", PMIX_GEOMETRY, pmix_geometry_t,
         { .fabric = 1,
           .uuid = item_u,
           .osname = item_o,
           .coordinates = item_coords,
           .ncoords = 2 });
    ITEM("device distance", PMIX_DEVICE_DIST, pmix_device_distance_t, { item_u, item_o, 4, 1, 2 });
    ITEM("endpoint", PMIX_ENDPOINT, pmix_endpoint_t, { item_u, item_o, { item_bytes, 2 } });
    ITEM("data buffer", PMIX_DATA_BUFFER, pmix_data_buffer_t,
         { .base_ptr = item_bytes,
           .pack_ptr = item_bytes + 2,
           .unpack_ptr = item_bytes,
           .bytes_allocated = 3,
           .bytes_used = 2 });
}

static void items_stats(void)
{
    pmix_proc_stats_t ps;
    pmix_node_stats_t ns;

    memset(&ps, 0, sizeof ps);
    ps.node = item_node;
    ps.proc = item_proc("ns", 2);
    ps.pid = 5;
    ps.cmd = item_x;
    ps.state = 'R';
    ps.time = (struct timeval){ 1, 2 };
    ps.percent_cpu = 1.5f; /* not sent */
    ps.priority = 3;
    ps.num_threads = 40000;
    ps.pss = 0.5f;
    ps.vsize = 2;
    ps.rss = 3;
    ps.peak_vsize = 4; /* not sent */
    ps.processor = 6;
    ps.sample_time = (struct timeval){ 8, 0 };
    ITEM("proc stats", PMIX_PROC_STATS, pmix_proc_stats_t, ps);
    ITEM("disk stats", PMIX_DISK_STATS, pmix_disk_stats_t,
         { item_x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 });
    ITEM("net stats", PMIX_NET_STATS, pmix_net_stats_t, { item_eth, 1, 2, 3, 4, 5, 6 });
    memset(&ns, 0, sizeof ns);
    ns.node = item_node;
    ns.la = 1;
    ns.la5 = 2;
    ns.la15 = 3;
    ns.total_mem = 4;
    ns.free_mem = 5;
    ns.buffers = 6;
    ns.cached = 7;
    ns.swap_cached = 8;
    ns.swap_total = 9;
    ns.swap_free = 10;
    ns.mapped = 11;
    ns.sample_time = (struct timeval){ 1, 0 };
    ITEM("node stats", PMIX_NODE_STATS, pmix_node_stats_t, ns);
}

static void items_values(void)
{
    static pmix_proc_t proc, procs[2];
    static pmix_info_t infos[2];
    static pmix_value_t values[3];
    static pmix_data_array_t info_array, string_array, nested[2], outer, proc_array, value_array;
    static pmix_proc_info_t pinfo;
    static pmix_endpoint_t endpoint = { item_u, item_o, { item_bytes, 2 } };
    static pmix_geometry_t geometry = { 1, item_u, item_o, item_coords, 1 };
    static pmix_device_distance_t dist = { item_u, item_o, 4, 1, 2 };
    static pmix_regattr_t reg;
    static pmix_nspace_t nspace = "ns";
    static char regex[] = "raw:n0,n1";

    proc = item_proc("ns", PMIX_RANK_WILDCARD);
    pinfo = (pmix_proc_info_t){ .proc = proc, .hostname = item_host, .pid = 99, .state = 5 };
    reg = (pmix_regattr_t){ .name = item_x, .type = PMIX_STRING, .description = item_descs };
    VALUE("undef", PMIX_UNDEF, size, 0);
    VALUE("bool", PMIX_BOOL, flag, true);
    VALUE("string", PMIX_STRING, string, item_value);
    VALUE("string null", PMIX_STRING, string, NULL);
    VALUE("size", PMIX_SIZE, size, 300);
    VALUE("pid", PMIX_PID, pid, 5);
    VALUE("int", PMIX_INT, integer, -7);
    VALUE("uint32", PMIX_UINT32, uint32, 7);
    VALUE("float", PMIX_FLOAT, fval, 2.5f);
    VALUE("timeval", PMIX_TIMEVAL, tv, (struct timeval){ 1, 500000 });
    VALUE("time", PMIX_TIME, time, 1700000000);
    VALUE("status", PMIX_STATUS, status, -5);
    VALUE("proc", PMIX_PROC, proc, &proc);
    VALUE("nspace", PMIX_PROC_NSPACE, nspace, &nspace);
    VALUE("byte object", PMIX_BYTE_OBJECT, bo, (pmix_byte_object_t){ item_bytes, 3 });
    VALUE("compressed string", PMIX_COMPRESSED_STRING, bo, (pmix_byte_object_t){ item_bytes, 3 });
    VALUE("scope", PMIX_SCOPE, scope, 3);
    VALUE("rank", PMIX_PROC_RANK, rank, 3);
    VALUE("proc info", PMIX_PROC_INFO, pinfo, &pinfo);
    VALUE("envar", PMIX_ENVAR, envar, (pmix_envar_t){ item_x, item_y, ':' });
    VALUE("coord", PMIX_COORD, coord, item_coords);
    VALUE("regattr", PMIX_REGATTR, ptr, &reg);
    VALUE("regex", PMIX_REGEX, bo, (pmix_byte_object_t){ regex, sizeof regex });
    VALUE("geometry", PMIX_GEOMETRY, geometry, &geometry);
    VALUE("device distance", PMIX_DEVICE_DIST, devdist, &dist);
    VALUE("endpoint", PMIX_ENDPOINT, endpoint, &endpoint);
    VALUE("pointer", PMIX_POINTER, ptr, item_x);
    VALUE("iof channel", PMIX_IOF_CHANNEL, uint16, 6);
    VALUE("info directives", PMIX_INFO_DIRECTIVES, uint32, 3);
    VALUE("array", PMIX_DATA_ARRAY, darray, &item_u32_array);

    infos[0] = item_info("pmix.session.id", 0, UINT32_MAX);
    infos[1] = item_info("pmix.univ.size", 2, 2);
    info_array = (pmix_data_array_t){ .type = PMIX_INFO, .size = 2, .array = infos };
    VALUE("array of infos", PMIX_DATA_ARRAY, darray, &info_array);
    string_array = (pmix_data_array_t){ .type = PMIX_STRING, .size = 2, .array = item_argv };
    VALUE("array of strings", PMIX_DATA_ARRAY, darray, &string_array);
    procs[0] = proc;
    procs[1] = item_proc("other", 0);
    proc_array = (pmix_data_array_t){ .type = PMIX_PROC, .size = 2, .array = procs };
    VALUE("array of procs", PMIX_DATA_ARRAY, darray, &proc_array);
    values[0] = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &proc_array };
    values[1] = (pmix_value_t){ .type = PMIX_STRING, .data.string = item_value };
    value_array = (pmix_data_array_t){ .type = PMIX_VALUE, .size = 3, .array = values };
    VALUE("array of values", PMIX_DATA_ARRAY, darray, &value_array);
    nested[0] = value_array;
    nested[1] = item_u32_array;
    outer = (pmix_data_array_t){ .type = PMIX_DATA_ARRAY, .size = 2, .array = nested };
    VALUE("array of arrays", PMIX_DATA_ARRAY, darray, &outer);
}

static void items_make(void)
{
    items_numbers();
    items_words();
    items_structs();
    items_stats();
    items_values();
}

#endif
