/* macros_test.c - every function-like macro of the headers, as programs use them.
 *
 * Uses only public headers and their contracts, in the common subset of C and C++: tests/pmix-abi
 * also compiles this file as C++, and checks that no macro of its table is missing here.
 */
#include "tests/tap.h"

#include <pmix_tool.h>

/* Many macros are statements with an `if` or a loop inside: they must be one statement. */
#define ALONE(statement)                                                                           \
    if (true)                                                                                      \
        statement;                                                                                 \
    else                                                                                           \
        OK(false)

/* CONSTRUCT, CREATE, FREE and DESTRUCT of a family; `wrong` makes the effect of construct
 * visible. */
#define LIFE(NAME, type)                                                                           \
    do {                                                                                           \
        type one_, *many_ = NULL;                                                                  \
        static const type empty_ = PMIX_##NAME##_STATIC_INIT;                                      \
        memset(&one_, 0x55, sizeof one_);                                                          \
        PMIX_##NAME##_CONSTRUCT(&one_);                                                            \
        OK_F(memcmp(&one_, &empty_, sizeof one_) == 0 || padded_##NAME, "a constructed " #type);   \
        PMIX_##NAME##_DESTRUCT(&one_);                                                             \
        PMIX_##NAME##_CREATE(many_, 0);                                                            \
        OK_F(many_ == NULL, "no " #type " is NULL");                                               \
        PMIX_##NAME##_CREATE(many_, 3);                                                            \
        OK_F(many_ != NULL && (memcmp(&many_[2], &empty_, sizeof one_) == 0 || padded_##NAME),     \
             "three " #type);                                                                      \
        ALONE(PMIX_##NAME##_FREE(many_, 3));                                                       \
        OK_F(many_ == NULL, "a freed " #type " is NULL");                                          \
    } while (0)

/* A static initialiser need not fill the padding between members, nor set the rank of an inner
 * process; those are compared by their members elsewhere. */
enum {
    padded_PROC = false,
    padded_PROC_INFO = true,
    padded_PROC_STATS = true,
    padded_DISK_STATS = false,
    padded_NET_STATS = false,
    padded_NODE_STATS = true,
    padded_CPUSET = false,
    padded_TOPOLOGY = false,
    padded_GEOMETRY = false,
    padded_DEVICE = false,
    padded_DEVICE_DIST = true,
    padded_RESOURCE_UNIT = false,
    padded_ENDPOINT = false,
    padded_ENVAR = true,
    padded_BYTE_OBJECT = false,
    padded_VALUE = true,
    padded_INFO = true,
    padded_APP = true,
    padded_QUERY = false,
    padded_REGATTR = true,
};

#define RELEASE(NAME, type)                                                                        \
    do {                                                                                           \
        type *one_;                                                                                \
        PMIX_##NAME##_CREATE(one_, 1);                                                             \
        ALONE(PMIX_##NAME##_RELEASE(one_));                                                        \
        OK_F(one_ == NULL, "a released " #type " is NULL");                                        \
    } while (0)

static void test_lives(void)
{
    LIFE(PROC, pmix_proc_t);
    LIFE(PROC_INFO, pmix_proc_info_t);
    LIFE(PROC_STATS, pmix_proc_stats_t);
    LIFE(DISK_STATS, pmix_disk_stats_t);
    LIFE(NET_STATS, pmix_net_stats_t);
    LIFE(NODE_STATS, pmix_node_stats_t);
    LIFE(CPUSET, pmix_cpuset_t);
    LIFE(TOPOLOGY, pmix_topology_t);
    LIFE(GEOMETRY, pmix_geometry_t);
    LIFE(DEVICE, pmix_device_t);
    LIFE(DEVICE_DIST, pmix_device_distance_t);
    LIFE(RESOURCE_UNIT, pmix_resource_unit_t);
    LIFE(ENDPOINT, pmix_endpoint_t);
    LIFE(ENVAR, pmix_envar_t);
    LIFE(BYTE_OBJECT, pmix_byte_object_t);
    LIFE(VALUE, pmix_value_t);
    LIFE(INFO, pmix_info_t);
    LIFE(APP, pmix_app_t);
    LIFE(QUERY, pmix_query_t);
    LIFE(REGATTR, pmix_regattr_t);
    RELEASE(PROC, pmix_proc_t);
    RELEASE(PROC_INFO, pmix_proc_info_t);
    RELEASE(PROC_STATS, pmix_proc_stats_t);
    RELEASE(DISK_STATS, pmix_disk_stats_t);
    RELEASE(NET_STATS, pmix_net_stats_t);
    RELEASE(NODE_STATS, pmix_node_stats_t);
    RELEASE(VALUE, pmix_value_t);
    RELEASE(PDATA, pmix_pdata_t);
    RELEASE(APP, pmix_app_t);
    RELEASE(QUERY, pmix_query_t);
}

/* The initialisers without a family of that name. */
static void test_initialisers(void)
{
    static const pmix_pdata_t pdata = PMIX_LOOKUP_STATIC_INIT;
    static const pmix_fabric_t fabric = PMIX_FABRIC_STATIC_INIT;
    static const pmix_node_pid_t node = PMIX_NODE_PID_STATIC_INIT;
    static const pmix_data_array_t array = PMIX_DATA_ARRAY_STATIC_INIT;
    static const pmix_data_buffer_t buffer = PMIX_DATA_BUFFER_STATIC_INIT;
    static const pmix_coord_t coord = PMIX_COORD_STATIC_INIT;
    pmix_proc_t on_stack = PMIX_PROC_STATIC_INIT;
    pmix_fabric_t constructed;

    OK(pdata.proc.rank == PMIX_RANK_UNDEF && pdata.value.type == PMIX_UNDEF && pdata.key[0] == 0);
    OK(fabric.name == NULL && fabric.ninfo == 0);
    OK(node.nodeid == UINT32_MAX && node.pid == -1);
    OK(array.type == PMIX_UNDEF && array.array == NULL);
    OK(buffer.base_ptr == NULL && buffer.bytes_used == 0);
    OK(coord.view == PMIX_COORD_VIEW_UNDEF && coord.dims == 0);
    OK(on_stack.rank == PMIX_RANK_UNDEF && on_stack.nspace[0] == 0);
    memset(&constructed, 0x55, sizeof constructed);
    PMIX_FABRIC_CONSTRUCT(&constructed);
    OK(constructed.info == NULL && constructed.index == 0);
}

static void test_coord(void)
{
    pmix_coord_t one, *many = NULL;

    PMIX_COORD_CONSTRUCT(&one);
    OK(one.coord == NULL && one.dims == 0 && one.view == PMIX_COORD_VIEW_UNDEF);
    PMIX_COORD_DESTRUCT(&one);
    PMIX_COORD_CREATE(many, 2, 5); /* two places of five dimensions */
    OK(many != NULL && many[1].dims == 5 && many[1].coord[4] == 0);
    ALONE(PMIX_COORD_FREE(many, 2));
    OK(many == NULL);
}

static void test_pdata(void)
{
    pmix_pdata_t one, copy, *many = NULL;
    pmix_proc_t proc;
    int number = 9;

    PMIX_PDATA_CONSTRUCT(&one);
    OK(one.value.type == PMIX_UNDEF && one.key[0] == 0);
    PMIX_PDATA_DESTRUCT(&one);
    PMIX_PDATA_CREATE(many, 2);
    OK(many != NULL);
    ALONE(PMIX_PDATA_FREE(many, 2));
    OK(many == NULL);
    PMIX_LOAD_PROCID(&proc, "ns", 4);
    ALONE(PMIX_PDATA_LOAD(&one, &proc, "key", &number, PMIX_INT));
    ALONE(PMIX_PDATA_XFER(&copy, &one));
    OK(copy.proc.rank == 4 && strcmp(copy.key, "key") == 0 && copy.value.data.integer == 9);
    PMIX_PDATA_DESTRUCT(&one);
    PMIX_PDATA_DESTRUCT(&copy);
}

static void test_names(void)
{
    struct {
        pmix_key_t key;
    } holder;
    pmix_nspace_t ns, router, rest;
    pmix_proc_t a, b;

    memset(&holder, 0x55, sizeof holder);
    PMIX_LOAD_KEY(holder.key, "pmix.key");
    OK(holder.key[PMIX_MAX_KEYLEN] == 0 && holder.key[9] == 0);
    OK(PMIX_CHECK_KEY(&holder, "pmix.key") && !PMIX_CHECK_KEY(&holder, "pmix.kez"));
    OK(PMIX_CHECK_RESERVED_KEY(holder.key) && PMIX_CHECK_RESERVED_KEY("pmixx") &&
       !PMIX_CHECK_RESERVED_KEY("pmi"));
    PMIX_LOAD_KEY(holder.key, NULL);
    OK(holder.key[0] == 0);
    memset(ns, 0x55, sizeof ns);
    PMIX_LOAD_NSPACE(ns, NULL);
    OK(ns[0] == 0 && ns[PMIX_MAX_NSLEN] == 0 && PMIX_NSPACE_INVALID(ns));
    PMIX_LOAD_NSPACE(ns, "job");
    OK(PMIX_CHECK_NSPACE(ns, "job") && PMIX_CHECK_NSPACE(ns, "") && !PMIX_CHECK_NSPACE(ns, "jo"));
    PMIX_LOAD_PROCID(&a, "job", 1);
    PMIX_PROC_LOAD(&b, "job", 2);
    OK(!PMIX_CHECK_PROCID(&a, &b) && !PMIX_PROCID_INVALID(&a));
    b.rank = PMIX_RANK_WILDCARD;
    OK(PMIX_CHECK_PROCID(&a, &b) && PMIX_CHECK_RANK(1, PMIX_RANK_WILDCARD) &&
       !PMIX_CHECK_RANK(1, 2));
    b.rank = PMIX_RANK_INVALID;
    OK(PMIX_PROCID_INVALID(&b) && !PMIX_CHECK_PROCID(&a, &b));
    PMIX_XFER_PROCID(&b, &a);
    OK(b.rank == 1);
    a.rank = 7;
    PMIX_PROCID_XFER(&b, &a);
    OK(b.rank == 7 && strcmp(b.nspace, "job") == 0);
    PMIX_LOAD_NSPACE(router, "c1");
    PMIX_MULTICLUSTER_NSPACE_CONSTRUCT(ns, router, a.nspace);
    OK(strcmp(ns, "c1:job") == 0);
    PMIX_MULTICLUSTER_NSPACE_PARSE(ns, router, rest);
    OK(strcmp(router, "c1") == 0 && strcmp(rest, "job") == 0);
    OK(PMIX_RANK_IS_VALID(5) && !PMIX_RANK_IS_VALID(PMIX_RANK_WILDCARD));
    OK(PMIX_SYSTEM_EVENT(PMIX_EVENT_NODE_DOWN) && !PMIX_SYSTEM_EVENT(PMIX_ERR_INIT) &&
       PMIX_SYSTEM_EVENT(PMIX_EVENT_SYS_OTHER) && !PMIX_SYSTEM_EVENT(PMIX_EVENT_SYS_OTHER - 1));
}

static void test_values(void)
{
    pmix_value_t v, w, *fresh = NULL;
    pmix_status_t rc = PMIX_ERROR;
    int number = 5, got = 0, *place = &got;
    size_t size = 0;
    double real = 0;

    OK(PMIX_VALUE_LOAD(&v, &number, PMIX_INT) == PMIX_SUCCESS && v.data.integer == 5);
    PMIX_VALUE_UNLOAD(rc, &v, (void **)&place, &size);
    OK(rc == PMIX_SUCCESS && got == 5 && size == sizeof got);
    ALONE(PMIX_VALUE_XFER(rc, fresh, &v)); /* NULL: it is allocated */
    OK(rc == PMIX_SUCCESS && fresh != NULL && fresh->data.integer == 5);
    number = 6;
    PMIX_VALUE_LOAD(&w, &number, PMIX_INT);
    ALONE(PMIX_VALUE_XFER(rc, fresh, &w));
    OK(rc == PMIX_SUCCESS && fresh->data.integer == 6);
    PMIX_VALUE_RELEASE(fresh);
    PMIX_VALUE_XFER_DIRECT(rc, &w, &v);
    OK(rc == PMIX_SUCCESS && w.data.integer == 5);
    ALONE(PMIX_VALUE_GET_NUMBER(rc, &v, real, double));
    OK(rc == PMIX_SUCCESS && real > 4.5 && real < 5.5);
    OK(!PMIX_CHECK_BOOL(&v) && !PMIX_CHECK_TRUE(&v));
    PMIX_VALUE_LOAD(&v, "no", PMIX_STRING);
    OK(PMIX_CHECK_BOOL(&v) && !PMIX_CHECK_TRUE(&v));
    PMIX_VALUE_GET_NUMBER(rc, &v, real, double);
    OK(rc == PMIX_ERR_BAD_PARAM);
    PMIX_VALUE_DESTRUCT(&v);
    OK(PMIX_CHECK_TRUE(&v)); /* it is empty: its presence is enough */
}

static void test_infos(void)
{
    pmix_info_t *infos, one, copy;
    pmix_status_t rc = PMIX_ERROR;
    pmix_data_array_t array;
    void *list;
    int number = 5;

    PMIX_INFO_CREATE(infos, 2);
    OK(infos[0].flags == 0 && infos[1].flags == 0);
    ALONE(PMIX_INFO_LOAD(&infos[0], PMIX_TIMEOUT, &number, PMIX_INT));
    ALONE(PMIX_INFO_XFER(&infos[1], &infos[0]));
    OK(PMIX_CHECK_KEY(&infos[1], PMIX_TIMEOUT) && infos[1].value.data.integer == 5);
    PMIX_INFO_REQUIRED(&infos[0]);
    OK(PMIX_INFO_IS_REQUIRED(&infos[0]) && !PMIX_INFO_IS_OPTIONAL(&infos[0]));
    PMIX_INFO_OPTIONAL(&infos[0]);
    OK(PMIX_INFO_IS_OPTIONAL(&infos[0]));
    PMIX_INFO_PROCESSED(&infos[0]);
    OK(PMIX_INFO_WAS_PROCESSED(&infos[0]));
    PMIX_INFO_SET_END(&infos[1]);
    OK(PMIX_INFO_IS_END(&infos[1]) && !PMIX_INFO_IS_END(&infos[0]));
    PMIX_INFO_SET_QUALIFIER(&infos[0]);
    OK(PMIX_INFO_IS_QUALIFIER(&infos[0]));
    ALONE(PMIX_INFO_FREE(infos, 2));
    OK(infos == NULL);
    PMIX_INFO_LOAD(&one, "key", NULL, PMIX_BOOL);
    OK(PMIX_INFO_TRUE(&one));
    PMIX_INFO_SET_PERSISTENT(&one);
    OK(PMIX_INFO_IS_PERSISTENT(&one));
    PMIX_INFO_DESTRUCT(&one);
    PMIX_INFO_LOAD(&one, "key", "text", PMIX_STRING);
    PMIX_INFO_LIST_START(list);
    PMIX_INFO_LIST_ADD(rc, list, "n", &number, PMIX_INT);
    OK(rc == PMIX_SUCCESS);
    PMIX_INFO_LIST_PREPEND(rc, list, "m", &number, PMIX_INT);
    OK(rc == PMIX_SUCCESS);
    PMIX_INFO_LIST_XFER(rc, list, &one);
    OK(rc == PMIX_SUCCESS);
    PMIX_INFO_LIST_INSERT(rc, list, &one);
    OK(rc == PMIX_SUCCESS);
    PMIX_INFO_LIST_CONVERT(rc, list, &array);
    OK(rc == PMIX_SUCCESS && array.size == 4);
    PMIX_INFO_LIST_RELEASE(list);
    PMIX_INFO_XFER(&copy, &((pmix_info_t *)array.array)[2]);
    OK(strcmp(copy.value.data.string, "text") == 0);
    PMIX_INFO_DESTRUCT(&copy);
    PMIX_DATA_ARRAY_DESTRUCT(&array);
    PMIX_INFO_DESTRUCT(&one);
}

static void test_arrays_and_bytes(void)
{
    pmix_data_array_t one, *heap;
    pmix_byte_object_t bo;
    pmix_data_buffer_t buffer, *fresh;
    pmix_envar_t envar;
    char *bytes = strdup("abc"), *out = NULL;
    size_t size = 3, nothing = 9;

    PMIX_DATA_ARRAY_INIT(&one, PMIX_INT);
    OK(one.type == PMIX_INT && one.size == 0 && one.array == NULL);
    PMIX_DATA_ARRAY_CONSTRUCT(&one, 3, PMIX_PROC);
    OK(one.size == 3 && ((pmix_proc_t *)one.array)[2].rank == PMIX_RANK_UNDEF);
    PMIX_DATA_ARRAY_DESTRUCT(&one);
    OK(one.array == NULL);
    PMIX_DATA_ARRAY_CREATE(heap, 3, PMIX_STRING);
    OK(heap->size == 3 && ((char **)heap->array)[2] == NULL);
    ((char **)heap->array)[1] = strdup("text");
    ALONE(PMIX_DATA_ARRAY_FREE(heap));
    OK(heap == NULL);

    ALONE(PMIX_BYTE_OBJECT_LOAD(&bo, bytes, size)); /* a move */
    OK(bytes == NULL && size == 0 && bo.size == 3);
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    PMIX_DATA_BUFFER_LOAD(&buffer, bo.bytes, bo.size);
    OK(buffer.bytes_used == 3 && buffer.base_ptr == bo.bytes);
    PMIX_DATA_BUFFER_UNLOAD(&buffer, out, nothing);
    OK(out == bo.bytes && nothing == 3 && buffer.base_ptr == NULL);
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    PMIX_BYTE_OBJECT_DESTRUCT(&bo);
    PMIX_DATA_BUFFER_CREATE(fresh);
    OK(fresh != NULL && fresh->bytes_used == 0);
    ALONE(PMIX_DATA_BUFFER_RELEASE(fresh));
    OK(fresh == NULL);

    PMIX_ENVAR_CONSTRUCT(&envar);
    PMIX_ENVAR_LOAD(&envar, (char *)"PATH", (char *)"/bin", ':');
    OK(strcmp(envar.envar, "PATH") == 0 && strcmp(envar.value, "/bin") == 0 &&
       envar.separator == ':');
    PMIX_ENVAR_DESTRUCT(&envar);
}

static void test_apps_queries_attributes(void)
{
    pmix_app_t app;
    pmix_query_t query;
    pmix_regattr_t a, b;

    PMIX_APP_CONSTRUCT(&app);
    PMIX_APP_INFO_CREATE(&app, 2);
    OK(app.ninfo == 2 && app.info != NULL);
    PMIX_APP_DESTRUCT(&app);
    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_QUERY_QUALIFIERS_CREATE(&query, 3);
    OK(query.nqual == 3 && query.qualifiers != NULL);
    PMIX_QUERY_DESTRUCT(&query);
    PMIX_REGATTR_CONSTRUCT(&a);
    PMIX_REGATTR_LOAD(&a, "PMIX_X", "pmix.x", PMIX_INT, "what it is");
    PMIX_REGATTR_XFER(&b, &a);
    OK(strcmp(b.name, "PMIX_X") == 0 && strcmp(b.string, "pmix.x") == 0 && b.type == PMIX_INT &&
       strcmp(b.description[0], "what it is") == 0 && b.description[1] == NULL &&
       b.description != a.description);
    PMIX_REGATTR_DESTRUCT(&a);
    PMIX_REGATTR_DESTRUCT(&b);
}

static void test_vectors(void)
{
    char **argv = NULL, **copy = NULL, *text = NULL;
    pmix_status_t rc = PMIX_ERROR;
    int count = 0;

    PMIX_ARGV_APPEND(rc, argv, "b");
    OK(rc == PMIX_SUCCESS);
    PMIX_ARGV_PREPEND(rc, argv, "a");
    PMIX_ARGV_APPEND_UNIQUE(rc, &argv, "b");
    PMIX_ARGV_COUNT(count, argv);
    EQ(count, 2);
    PMIX_ARGV_JOIN(text, argv, ',');
    OK(strcmp(text, "a,b") == 0);
    PMIX_ARGV_COPY(copy, argv);
    OK(copy != argv && strcmp(copy[1], "b") == 0 && copy[2] == NULL);
    ALONE(PMIX_ARGV_FREE(copy));
    OK(copy == NULL);
    PMIX_ARGV_SPLIT(copy, text, ',');
    OK(strcmp(copy[0], "a") == 0 && strcmp(copy[1], "b") == 0 && copy[2] == NULL);
    PMIX_ARGV_FREE(copy);
    PMIX_SETENV(rc, "NAME", "value", &argv);
    OK(rc == PMIX_SUCCESS && strcmp(argv[2], "NAME=value") == 0);
    PMIX_ARGV_FREE(argv);
    free(text);
}

/* The helpers of 4.2 are macros by name and functions by address. */
static void test_lower_case(void)
{
    char **argv = NULL, **more, *text;
    void (*release)(char **) = pmix_argv_free;
    pmix_value_t v;

    OK(pmix_argv_append_nosize(&argv, "b") == PMIX_SUCCESS);
    OK(pmix_argv_prepend_nosize(&argv, "a") == PMIX_SUCCESS);
    OK(pmix_argv_append_unique_nosize(&argv, "a") == PMIX_SUCCESS);
    EQ(pmix_argv_count(argv), 2);
    text = pmix_argv_join(argv, ':');
    OK(strcmp(text, "a:b") == 0);
    free(text);
    OK(pmix_setenv("A", "1", true, &argv) == PMIX_SUCCESS && strcmp(argv[2], "A=1") == 0);
    more = pmix_argv_copy(argv);
    EQ(pmix_argv_count(more), 3);
    release(more);
    pmix_argv_free(argv);
    more = pmix_argv_split("a,,b", ',');
    EQ(pmix_argv_count(more), 2);
    pmix_argv_free(more);
    more = pmix_argv_split_with_empty("a,,b", ',');
    EQ(pmix_argv_count(more), 3);
    pmix_argv_free(more);
    more = pmix_argv_split_inter("a,,b", ',', true);
    EQ(pmix_argv_count(more), 3);
    pmix_argv_free(more);
    PMIX_VALUE_LOAD(&v, NULL, PMIX_BOOL);
    EQ(pmix_check_true(&v), PMIX_BOOL_TRUE);
    pmix_app_free(NULL, 0);
    pmix_pdata_free(NULL, 0);
    pmix_proc_stats_free(NULL, 0);
    pmix_disk_stats_free(NULL, 0);
    pmix_net_stats_free(NULL, 0);
    pmix_node_stats_free(NULL, 0);
    EQ(pmix_nslen("abc") + pmix_keylen("abcd") + pmix_nslen(NULL) + pmix_keylen(NULL), 7);
}

/* Before any init it does no harm. */
static void test_heartbeat(void)
{
    ALONE(PMIx_Heartbeat());
    OK(!PMIx_Initialized());
}

int main(void)
{
    test_lives();
    test_initialisers();
    test_coord();
    test_pdata();
    test_names();
    test_values();
    test_infos();
    test_arrays_and_bytes();
    test_apps_queries_attributes();
    test_vectors();
    test_lower_case();
    test_heartbeat();
    return tap_done();
}
