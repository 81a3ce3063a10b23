/* topology_test.c - processors and devices, on a machine that is described in a file:
 * two packages of two third-level caches of four processors, three networks and a GPU. */
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/values/value.h"
#include "pmix_server.h"
#include "tests/tap.h"

static pmix_cpuset_t set_of(const char *list)
{
    pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT;

    if (PMIx_Parse_cpuset_string(list, &set) != PMIX_SUCCESS)
        OK_F(false, "a set %s", list);
    return set;
}

static void test_cpusets(void)
{
    static const struct {
        const char *text, *again;
        pmix_status_t status;
    } rows[] = {
        { "hwloc:0-1", "hwloc:0-1", PMIX_SUCCESS },
        { "hwloc:2.9.0:0-1", "hwloc:0-1", PMIX_SUCCESS },
        { "hwloc:0,2", "hwloc:0,2", PMIX_SUCCESS },
        { "hwloc:", "hwloc:", PMIX_SUCCESS },
        { "hwloc:5-", "hwloc:5-", PMIX_SUCCESS },
        { "hwloc:3,1,2", "hwloc:1-3", PMIX_SUCCESS },
        { "0-1", NULL, PMIX_ERR_BAD_PARAM },
        { "", NULL, PMIX_ERR_BAD_PARAM },
        { "foo:0", NULL, PMIX_ERR_NOT_SUPPORTED },
        { "hwloc:zz", NULL, PMIX_ERR_BAD_PARAM },
        { "hwloc:3-1", NULL, PMIX_ERR_BAD_PARAM },
        { "hwloc:0-4000000000", NULL, PMIX_ERR_BAD_PARAM }, /* half a gigabyte */
        { "hwloc:70000", NULL, PMIX_ERR_BAD_PARAM },
        { "hwloc:1,", "hwloc:1", PMIX_SUCCESS },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT;
        char *text = NULL;
        pmix_status_t rc = PMIx_Parse_cpuset_string(rows[i].text, &set);
        bool good = rc == rows[i].status;
        if (rc == PMIX_SUCCESS)
            good = good && PMIx_server_generate_cpuset_string(&set, &text) == PMIX_SUCCESS &&
                   strcmp(text, rows[i].again) == 0;
        OK_F(good, "cpuset \"%s\" (%d)", rows[i].text, rows[i].status);
        free(text);
        PMIx_Cpuset_destruct(&set);
    }
}

/* The names that OpenPMIx 4.2.2 gives on this machine. */
static void test_localities(void)
{
    static const struct {
        const char *list, *text;
    } rows[] = {
        { "hwloc:0", "SK0:L30:L20:CR0:HT0:NM0" },
        { "hwloc:3", "SK0:L30:L21:CR1:HT3:NM0" },
        { "hwloc:15", "SK1:L33:L27:CR7:HT15:NM3" },
        { "hwloc:0-3", "SK0:L30:L20-1:CR0-1:HT0-3:NM0" },
        { "hwloc:0,2", "SK0:L30:L20-1:CR0-1:HT0,2:NM0" },
        { "hwloc:1,14-20", "SK0-1:L30,3:L20,7:CR0,7:HT1,14-15:NM0,3" },
        { "hwloc:", NULL },
        { "hwloc:100", NULL },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pmix_cpuset_t set = set_of(rows[i].list);
        char *text = NULL;
        OK_F(PMIx_server_generate_locality_string(&set, &text) == PMIX_SUCCESS &&
                 (rows[i].text ? text && strcmp(text, rows[i].text) == 0 : !text),
             "%s is at %s", rows[i].list, rows[i].text ? rows[i].text : "nowhere");
        free(text);
        PMIx_Cpuset_destruct(&set);
    }
}

static void test_relative(void)
{
    static const struct {
        const char *a, *b;
        pmix_status_t status;
        pmix_locality_t shared;
    } rows[] = {
        { "SK0:L30:L20:CR0:HT0:NM0", "SK0:L30:L20:CR0:HT0:NM0", PMIX_SUCCESS, 0x407b },
        { "SK0:L30:L20:CR0:HT0:NM0", "SK0:L30:L20:CR0:HT1:NM0", PMIX_SUCCESS, 0x407a },
        { "SK0:L30:L20:CR0:HT0:NM0", "SK0:L31:L22:CR2:HT4:NM1", PMIX_SUCCESS, 0x4020 },
        { "SK0:L30:L20:CR0:HT0:NM0", "SK1:L32:L24:CR4:HT8:NM2", PMIX_SUCCESS, 0x4000 },
        { "hwloc:SK0-1:CR0", "SK1:CR0", PMIX_SUCCESS, 0x4022 },
        { "SK0,2-4", "SK3", PMIX_SUCCESS, 0x4020 },
        { "SK0:L10", "SK0:L10:XX7", PMIX_SUCCESS, 0x4024 }, /* a level of future releases */
        { "SK0", "x", PMIX_ERR_BAD_PARAM, 0 },
        { "", "SK0", PMIX_ERR_BAD_PARAM, 0 },
        { "SK0-99999999", "SK0", PMIX_ERR_BAD_PARAM, 0 },
        { "SKx", "SK0", PMIX_ERR_BAD_PARAM, 0 },
        { "SK2-1", "SK0", PMIX_ERR_BAD_PARAM, 0 },
        { NULL, "SK0", PMIX_ERR_BAD_PARAM, 0 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pmix_locality_t shared = 0;
        pmix_status_t rc = PMIx_Get_relative_locality(rows[i].a, rows[i].b, &shared);
        OK_F(rc == rows[i].status && shared == rows[i].shared, "%s and %s share %04x (%d)",
             rows[i].a ? rows[i].a : "nothing", rows[i].b, rows[i].shared, rows[i].status);
    }
}

static void test_topologies(void)
{
    pmix_topology_t t = PMIX_TOPOLOGY_STATIC_INIT, u = PMIX_TOPOLOGY_STATIC_INIT;
    pmix_data_buffer_t b = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_topology_t *copy = NULL;
    void *any = NULL, *first;
    int32_t n = 1;

    EQ(PMIx_Load_topology(&t), PMIX_SUCCESS);
    OK(t.topology && strncmp(t.source, "hwloc:", 6) == 0);
    first = t.topology;
    EQ(PMIx_Load_topology(&t), PMIX_SUCCESS);
    OK(t.topology == first); /* was loaded already */
    u.source = strdup("hwloc");
    EQ(PMIx_Load_topology(&u), PMIX_SUCCESS);
    OK(u.topology && u.topology != first && strcmp(u.source, "hwloc") == 0);
    PMIx_Topology_destruct(&u);
    u.source = strdup("other");
    EQ(PMIx_Load_topology(&u), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Topology_destruct(&u);
    EQ(PMIx_Load_topology(NULL), PMIX_ERR_BAD_PARAM);

    EQ(PMIx_Data_copy(&any, &t, PMIX_TOPO), PMIX_SUCCESS);
    copy = any;
    EQ(PMIx_Data_pack(NULL, &b, copy, 1, PMIX_TOPO), PMIX_SUCCESS);
    PMIx_Topology_free(copy, 1);
    EQ(PMIx_Data_unpack(NULL, &b, &u, &n, PMIX_TOPO), PMIX_SUCCESS);
    OK(u.topology && u.topology != first);
    PMIx_Topology_destruct(&u);
    PMIx_Data_buffer_destruct(&b);
    PMIx_Topology_destruct(&t);
}

/* A cpuset is packed as its list, in a value too. */
static void test_sending(void)
{
    pmix_cpuset_t set = set_of("hwloc:0-1,5"), got, other = { .source = (char *)(uintptr_t) "x" };
    pmix_value_t value = { .type = PMIX_PROC_CPUSET, .data.cpuset = &set }, back, copy;
    pmix_data_buffer_t b = PMIX_DATA_BUFFER_STATIC_INIT;
    int32_t n = 1;
    char *text = NULL;

    EQ(PMIx_Data_pack(NULL, &b, &set, 1, PMIX_PROC_CPUSET), PMIX_SUCCESS);
    OK(b.bytes_used == 8 && memcmp(b.base_ptr,
                                   "\2\14"
                                   "0-1,5",
                                   8) == 0);
    EQ(PMIx_Data_unpack(NULL, &b, &got, &n, PMIX_PROC_CPUSET), PMIX_SUCCESS);
    EQ(PMIx_server_generate_cpuset_string(&got, &text), PMIX_SUCCESS);
    OK(strcmp(text, "hwloc:0-1,5") == 0);
    free(text);
    PMIx_Cpuset_destruct(&got);
    EQ(PMIx_Data_pack(NULL, &b, &value, 1, PMIX_VALUE), PMIX_SUCCESS);
    EQ(PMIx_Data_unpack(NULL, &b, &back, &n, PMIX_VALUE), PMIX_SUCCESS);
    EQ(PMIx_Value_compare(&value, &back), PMIX_EQUAL);
    EQ(PMIx_Value_xfer(&copy, &back), PMIX_SUCCESS);
    EQ(PMIx_Value_compare(&value, &copy), PMIX_EQUAL);
    PMIx_Value_destruct(&copy);
    PMIx_Value_destruct(&back);
    other.bitmap = set.bitmap;
    EQ(PMIx_Data_pack(NULL, &b, &other, 1, PMIX_PROC_CPUSET), PMIX_ERR_NOT_SUPPORTED);
    EQ(PMIx_server_generate_cpuset_string(&other, &text), PMIX_ERR_NOT_SUPPORTED);
    EQ(PMIx_server_generate_locality_string(&other, &text), PMIX_ERR_NOT_SUPPORTED);
    other.bitmap = NULL;
    EQ(PMIx_Data_pack(NULL, &b, &other, 1, PMIX_PROC_CPUSET), PMIX_SUCCESS); /* not bound */
    EQ(PMIx_server_generate_cpuset_string(&other, &text), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_server_generate_locality_string(&other, &text), PMIX_SUCCESS);
    OK(text == NULL);
    PMIx_Data_buffer_destruct(&b);
    PMIx_Cpuset_destruct(&set);
}

static void test_bound(void)
{
    pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT;

    EQ(PMIx_Get_cpuset(&set, PMIX_CPUBIND_PROCESS), PMIX_SUCCESS);
    OK(set.bitmap && strcmp(set.source, "hwloc") == 0);
    PMIx_Cpuset_destruct(&set);
    EQ(PMIx_Get_cpuset(&set, PMIX_CPUBIND_THREAD), PMIX_SUCCESS);
    PMIx_Cpuset_destruct(&set);
    EQ(PMIx_Get_cpuset(&set, 77), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Get_cpuset(NULL, PMIX_CPUBIND_THREAD), PMIX_ERR_BAD_PARAM);
}

/* Distances of one device as "min-max", or "" when it was not requested. */
static const char *distances(pmix_topology_t *t, const char *list, pmix_info_t *info, size_t ninfo,
                             const char *name)
{
    static char text[100];
    pmix_cpuset_t set = set_of(list);
    pmix_device_distance_t *d = NULL;
    size_t n = 0;

    text[0] = '\0';
    PMIx_Compute_distances(t, &set, info, ninfo, &d, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(d[i].osname, name) == 0)
            snprintf(text, sizeof text, "%s %u-%u", d[i].uuid, d[i].mindist, d[i].maxdist);
    PMIx_Device_distance_free(d, n);
    PMIx_Cpuset_destruct(&set);
    return text;
}

static void test_distances(void)
{
    static const char eth0[] = "ipv4://02:fc:00:00:00:01";
    static const struct {
        const char *list, *name, *want;
    } rows[] = {
        { "hwloc:0", "eth0", "ipv4://02:fc:00:00:00:01 4-4" },
        { "hwloc:4", "eth0", "ipv4://02:fc:00:00:00:01 5-5" },
        { "hwloc:15", "eth0", "ipv4://02:fc:00:00:00:01 11-11" },
        { "hwloc:0-3", "eth0", "ipv4://02:fc:00:00:00:01 4-4" },
        { "hwloc:3,15", "eth0", "ipv4://02:fc:00:00:00:01 4-11" },
        { "hwloc:0", "eth1", "ipv4://02:fc:00:00:00:02 11-11" },
        { "hwloc:15", "eth1", "ipv4://02:fc:00:00:00:02 5-5" },
        { "hwloc:8", "mlx5_0", "fab://0002:c903:00ef:8a42::0002:c903:00ef:8a45 5-5" },
        { "hwloc:0", "lo", "" },
    };
    pmix_topology_t t = PMIX_TOPOLOGY_STATIC_INIT;
    pmix_cpuset_t set = set_of("hwloc:0");
    pmix_device_type_t fabric = PMIX_DEVTYPE_OPENFABRICS;
    pmix_device_distance_t *d = NULL;
    pmix_info_t info;
    size_t n = 9;

    EQ(PMIx_Load_topology(&t), PMIX_SUCCESS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        OK_F(strcmp(distances(&t, rows[i].list, NULL, 0, rows[i].name), rows[i].want) == 0,
             "%s to %s: %s", rows[i].list, rows[i].name, rows[i].want);

    OK(PMIx_Compute_distances(&t, &set, NULL, 0, &d, &n) == PMIX_SUCCESS && n == 7);
    PMIx_Device_distance_free(d, n);
    PMIx_Info_load(&info, PMIX_DEVICE_TYPE, &fabric, PMIX_DEVTYPE);
    OK(*distances(&t, "hwloc:0", &info, 1, "mlx5_0") &&
       !*distances(&t, "hwloc:0", &info, 1, "eth0"));
    fabric = UINT64_C(1) << 40;
    info.value.data.devtype = fabric;
    EQ(PMIx_Compute_distances(&t, &set, &info, 1, &d, &n), PMIX_ERR_NOT_FOUND);
    OK(!d && !n);
    PMIx_Info_destruct(&info);
    PMIx_Info_load(&info, PMIX_DEVICE_ID, eth0, PMIX_STRING);
    OK(*distances(&t, "hwloc:0", &info, 1, "eth0") && !*distances(&t, "hwloc:0", &info, 1, "eth1"));
    info.value.data.string[0] = 'x';
    EQ(PMIx_Compute_distances(&t, &set, &info, 1, &d, &n), PMIX_ERR_NOT_FOUND);
    PMIx_Info_destruct(&info);
    PMIx_Info_load(&info, PMIX_DEVICE_ID, "card0", PMIX_STRING);
    OK(strncmp(distances(&t, "hwloc:0", &info, 1, "card0"), "gpu://", 6) == 0);
    PMIx_Info_destruct(&info);
    EQ(PMIx_Compute_distances(NULL, &set, NULL, 0, &d, &n), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Compute_distances(&t, NULL, NULL, 0, &d, &n), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Compute_distances(&t, &set, NULL, 1, &d, &n), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Compute_distances(&t, &set, NULL, 0, NULL, &n), PMIX_ERR_BAD_PARAM);
    PMIx_Cpuset_destruct(&set);
    PMIx_Topology_destruct(&t);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    setenv("HWLOC_XMLFILE", argv[1], 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    test_cpusets();
    test_localities();
    test_relative();
    test_topologies();
    test_sending();
    test_bound();
    test_distances();
    return tap_done();
}
