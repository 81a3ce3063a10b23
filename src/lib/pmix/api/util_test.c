/* util_test.c - names, vectors, environments, and life cycles of structures: edge cases. */
#include "tests/tap.h"

#include "pmix_tool.h"

static void repeat(char *text, char c, size_t n)
{
    memset(text, c, n);
    text[n] = '\0';
}

static void test_keys(void)
{
    struct {
        pmix_key_t key;
        char behind;
    } place = { .behind = 'x' };
    char text[600];

    repeat(text, 'k', 599);
    PMIx_Load_key(place.key, text);
    EQ(strlen(place.key), PMIX_MAX_KEYLEN);
    EQ(place.behind, 'x');
    OK(PMIx_Check_key(place.key, text)); /* equal up to the length of a key */
    PMIx_Load_key(place.key, "short");
    OK(strcmp(place.key, "short") == 0);
    for (size_t i = 5; i <= PMIX_MAX_KEYLEN; i++)
        if (place.key[i] != '\0')
            OK_F(false, "byte %zu is wiped", i);
    PMIx_Load_key(place.key, place.key); /* onto itself */
    OK(strcmp(place.key, "short") == 0);
    OK(!PMIx_Check_key("short", "shorter") && PMIx_Check_key("", ""));
    OK(PMIx_Check_reserved_key("pmix") && !PMIx_Check_reserved_key("PMIX"));
    OK(PMIx_Rank_valid(0) && !PMIx_Rank_valid(PMIX_RANK_UNDEF));
}

static void test_clusters(void)
{
    pmix_nspace_t whole, router, rest, again;

    PMIx_Load_nspace(router, "c");
    repeat(rest, 'n', PMIX_MAX_NSLEN - 2);
    PMIx_Multicluster_nspace_construct(whole, router, rest);
    EQ(strlen(whole), PMIX_MAX_NSLEN);
    PMIx_Multicluster_nspace_parse(whole, router, again);
    OK(strcmp(router, "c") == 0 && strcmp(again, rest) == 0);
    repeat(rest, 'n', PMIX_MAX_NSLEN - 1); /* one too many: there is no room for both */
    PMIx_Multicluster_nspace_construct(whole, router, rest);
    EQ(strlen(whole), 0);
    PMIx_Load_nspace(whole, "alone");
    PMIx_Multicluster_nspace_parse(whole, router, rest);
    OK(strcmp(router, "alone") == 0 && *rest == '\0');
    PMIx_Load_nspace(whole, ":a:b");
    PMIx_Multicluster_nspace_parse(whole, router, rest);
    OK(*router == '\0' && strcmp(rest, "a:b") == 0);
}

static void splits(const char *text, bool empty, const char *want, int count)
{
    char **argv = PMIx_Argv_split_inter(text, ',', empty);
    char *joined = PMIx_Argv_join(argv, '|');

    OK_F(PMIx_Argv_count(argv) == count && strcmp(joined, want) == 0,
         "\"%s\" is split into \"%s\"%s", text != NULL ? text : "(NULL)", want,
         empty ? ", with empty parts" : "");
    OK_F((argv == NULL) == (count == 0), "%d parts are %s", count, argv != NULL ? "there" : "NULL");
    free(joined);
    PMIx_Argv_free(argv);
}

static void test_split(void)
{
    splits("a,b", false, "a|b", 2);
    splits("a,,b,", false, "a|b", 2);
    splits("a,,b,", true, "a||b", 3);
    splits(",a", false, "a", 1);
    splits(",a", true, "|a", 2);
    splits(",", true, "", 1);
    splits(",", false, "", 0);
    splits("", true, "", 0);
    splits("", false, "", 0);
    splits(NULL, true, "", 0);
    splits("abc", true, "abc", 1);
    PMIx_Argv_free(NULL);
    EQ(PMIx_Argv_count(NULL), 0);
    OK(PMIx_Argv_copy(NULL) == NULL);
}

static void test_vector(void)
{
    char **argv = NULL, **copy, name[16];

    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "%d", i);
        PMIx_Argv_append_nosize(&argv, name);
        PMIx_Argv_prepend_nosize(&argv, name);
        PMIx_Argv_append_unique_nosize(&argv, name);
    }
    EQ(PMIx_Argv_count(argv), 200);
    OK(strcmp(argv[0], "99") == 0 && strcmp(argv[199], "99") == 0 && strcmp(argv[99], "0") == 0);
    copy = PMIx_Argv_copy(argv);
    EQ(PMIx_Argv_count(copy), 200);
    PMIx_Argv_free(copy);
    free(argv[0]);
    argv[0] = NULL; /* empty, but there */
    copy = PMIx_Argv_copy(argv);
    OK(copy != NULL && copy[0] == NULL);
    PMIx_Argv_free(copy);
    for (int i = 1; i < 200; i++)
        free(argv[i]);
    free(argv);
}

static void test_environment(void)
{
    char **env = NULL;
    const char *real;

    EQ(PMIx_Setenv("A", "1", false, &env), PMIX_SUCCESS);
    EQ(PMIx_Setenv("AB", NULL, false, &env), PMIX_SUCCESS);
    OK(strcmp(env[0], "A=1") == 0 && strcmp(env[1], "AB=") == 0 && env[2] == NULL);
    EQ(PMIx_Setenv("A", "2", false, &env), PMIX_ERR_EXISTS);
    OK(strcmp(env[0], "A=1") == 0);
    EQ(PMIx_Setenv("A", "2", true, &env), PMIX_SUCCESS);
    OK(strcmp(env[0], "A=2") == 0 && PMIx_Argv_count(env) == 2);
    EQ(PMIx_Setenv("A", "2", true, NULL), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Setenv(NULL, "2", true, &env), PMIX_ERR_BAD_PARAM);
    PMIx_Argv_free(env);
    EQ(PMIx_Setenv("WIREUP_UTIL_TEST", "yes", true, &environ), PMIX_SUCCESS);
    real = getenv("WIREUP_UTIL_TEST");
    OK(real != NULL && strcmp(real, "yes") == 0);
    EQ(PMIx_Setenv("WIREUP_UTIL_TEST", NULL, true, &environ), PMIX_SUCCESS);
    OK(getenv("WIREUP_UTIL_TEST") == NULL);
}

/* Every destruct may be called twice, and with nothing. */
#define TWICE(Name, type, fill)                                                                    \
    do {                                                                                           \
        type one_;                                                                                 \
        PMIx_##Name##_construct(&one_);                                                            \
        fill;                                                                                      \
        PMIx_##Name##_destruct(&one_);                                                             \
        PMIx_##Name##_destruct(&one_);                                                             \
        PMIx_##Name##_destruct(NULL);                                                              \
        PMIx_##Name##_free(NULL, 3);                                                               \
        OK_F(true, #type " is destructed twice");                                                  \
    } while (0)

static void test_lives(void)
{
    TWICE(Proc, pmix_proc_t, one_.rank = 3);
    TWICE(Proc_info, pmix_proc_info_t, one_.hostname = strdup("h"));
    TWICE(Proc_stats, pmix_proc_stats_t, one_.cmd = strdup("h"));
    TWICE(Disk_stats, pmix_disk_stats_t, one_.disk = strdup("h"));
    TWICE(Net_stats, pmix_net_stats_t, one_.net_interface = strdup("h"));
    TWICE(Node_stats, pmix_node_stats_t,
          (one_.diskstats = PMIx_Disk_stats_create(2), one_.ndiskstats = 2,
           one_.diskstats[1].disk = strdup("d")));
    TWICE(Byte_object, pmix_byte_object_t, PMIx_Byte_object_load(&one_, strdup("h"), 2));
    TWICE(Envar, pmix_envar_t, one_.envar = strdup("h"));
    TWICE(Geometry, pmix_geometry_t,
          (one_.coordinates = PMIx_Coord_create(3, 2), one_.ncoords = 2));
    TWICE(Coord, pmix_coord_t, (one_.coord = calloc(3, sizeof(uint32_t)), one_.dims = 3));
    TWICE(Device, pmix_device_t, one_.uuid = strdup("h"));
    TWICE(Device_distance, pmix_device_distance_t, one_.uuid = strdup("h"));
    TWICE(Resource_unit, pmix_resource_unit_t, one_.count = 3);
    TWICE(Node_pid, pmix_node_pid_t, one_.hostname = strdup("h"));
    TWICE(Endpoint, pmix_endpoint_t, one_.endpt.bytes = strdup("h"));
    TWICE(Regattr, pmix_regattr_t, PMIx_Regattr_load(&one_, "N", "k", PMIX_INT, "d"));
    TWICE(Query, pmix_query_t, PMIx_Argv_append_nosize(&one_.keys, "k"));
    TWICE(App, pmix_app_t, PMIx_Argv_append_nosize(&one_.argv, "k"));
    TWICE(Pdata, pmix_pdata_t, PMIx_Value_load(&one_.value, "text", PMIX_STRING));
    TWICE(Info, pmix_info_t, PMIx_Value_load(&one_.value, "text", PMIX_STRING));
    TWICE(Value, pmix_value_t, PMIx_Value_load(&one_, "text", PMIX_STRING));
    PMIx_App_release(NULL);
    PMIx_Query_release(NULL);
    PMIx_Data_buffer_release(NULL);
    PMIx_Data_array_free(NULL);
    OK(PMIx_Proc_create(0) == NULL && PMIx_Info_create(0) == NULL &&
       PMIx_Coord_create(1, 0) == NULL);
}

static void test_nested(void)
{
    pmix_app_t *apps = PMIx_App_create(2);

    apps[1].cmd = strdup("cmd");
    PMIx_Argv_append_nosize(&apps[1].env, "A=B");
    PMIx_App_info_create(&apps[1], 2);
    PMIx_Info_load(&apps[1].info[0], "k", "owned", PMIX_STRING);
    PMIx_Info_load(&apps[1].info[1], "k", NULL, PMIX_STRING);
    apps[1].info[1].value.data.string = (char *)(uintptr_t) "borrowed";
    PMIx_Info_persistent(&apps[1].info[1]);
    PMIx_App_free(apps, 2); /* frees its own memory, and nothing else */
    OK(true);
}

static void test_fabric(void)
{
    pmix_fabric_t fabric;

    memset(&fabric, 0x55, sizeof fabric);
    PMIx_Fabric_construct(&fabric);
    OK(fabric.name == NULL && fabric.info == NULL && fabric.index == SIZE_MAX && fabric.ninfo == 0);
}

/* Element types that arrays have in Open MPI, PRRTE and Slurm, and unknown ones. */
static void test_arrays(void)
{
    pmix_data_array_t *a;

    for (pmix_data_type_t type = 1; type < 80; type++) {
        const char *name = PMIx_Data_type_string(type);
        a = PMIx_Data_array_create(3, type);
        if (strcmp(name, "UNKNOWN") == 0 || type == PMIX_KVAL || type == PMIX_BUFFER ||
            strcmp(name, "PMIX_MODEX") == 0 || strcmp(name, "PMIX_INFO_ARRAY") == 0)
            OK_F(a->array == NULL && a->size == 0, "type %u has no elements", type);
        else
            OK_F(a->array != NULL && a->size == 3 && a->type == type, "three of %s", name);
        PMIx_Data_array_free(a);
    }
    a = PMIx_Data_array_create(0, PMIX_INT);
    OK(a != NULL && a->array == NULL && a->size == 0 && a->type == PMIX_UNDEF);
    PMIx_Data_array_free(a);
    a = PMIx_Data_array_create(SIZE_MAX / 2, PMIX_INFO); /* more than available */
    OK(a != NULL && a->array == NULL && a->size == 0);
    PMIx_Data_array_free(a);
}

static void test_buffers(void)
{
    pmix_data_buffer_t b;
    char *bytes;
    size_t size;

    PMIx_Data_buffer_construct(&b);
    PMIx_Data_buffer_unload(&b, &bytes, &size);
    OK(bytes == NULL && size == 0);
    PMIx_Data_buffer_load(&b, strdup("first"), 5);
    PMIx_Data_buffer_load(&b, strdup("abcdef"), 6); /* the old content is released */
    OK(b.bytes_used == 6 && b.pack_ptr == b.base_ptr + 6 && b.unpack_ptr == b.base_ptr);
    b.unpack_ptr += 2;
    PMIx_Data_buffer_unload(&b, &bytes, &size);
    OK(size == 4 && memcmp(bytes, "cdef", 4) == 0);
    OK(b.base_ptr == NULL && b.bytes_used == 0);
    free(bytes);
    PMIx_Data_buffer_load(&b, strdup("abcdef"), 6);
    b.unpack_ptr += 6;
    PMIx_Data_buffer_unload(&b, &bytes, &size);
    OK(bytes == NULL && size == 0);
    PMIx_Data_buffer_destruct(&b);
}

/* ---- Texts of whole items ------------------------------------------------------------------- */

static void reads(char *text, const char *want)
{
    OK_F(text != NULL && strcmp(text, want) == 0, "%s", want);
    if (text == NULL || strcmp(text, want) != 0)
        printf("# got %s\n", text != NULL ? text : "(NULL)");
    free(text);
}

static void test_item_texts(void)
{
    pmix_value_t v;
    pmix_info_t info;
    pmix_proc_t proc;
    pmix_app_t app;
    pmix_resource_unit_t unit = { PMIX_DEVTYPE_GPU, 4 };
    int five[] = { 5, 6 };
    pmix_data_array_t array = { PMIX_INT, 2, five };

    PMIx_Value_load(&v, &five[0], PMIX_INT);
    reads(PMIx_Value_string(&v), " PMIX_VALUE:  Data type: PMIX_INT\tValue: 5");
    PMIx_Value_load(&v, &array, PMIX_DATA_ARRAY);
    reads(PMIx_Value_string(&v),
          " PMIX_VALUE:  Data type: PMIX_DATA_ARRAY\tType: PMIX_INT\tSize: 2\n"
          "  Data type: PMIX_INT\tValue: 5\n  Data type: PMIX_INT\tValue: 6");
    PMIx_Value_destruct(&v);
    reads(PMIx_Value_string(&v), " PMIX_VALUE:  Data type: PMIX_UNDEF");
    PMIx_Info_load(&info, PMIX_SERVER_TMPDIR, "/tmp", PMIX_STRING);
    reads(PMIx_Info_string(&info),
          " KEY: PMIX_SERVER_TMPDIR\n \t Data type: PMIX_INFO_DIRECTIVES\tValue: OPTIONAL\n"
          " \t PMIX_VALUE:  Data type: PMIX_STRING\tValue: /tmp");
    PMIx_App_construct(&app);
    app.cmd = strdup("a.out");
    PMIx_Argv_append_nosize(&app.argv, "a.out");
    PMIx_Argv_append_nosize(&app.argv, "-x");
    app.maxprocs = 2;
    PMIx_App_info_create(&app, 1);
    PMIx_Info_xfer(&app.info[0], &info);
    reads(PMIx_App_string(&app),
          "CMD: a.out\nARGV: a.out -x\nENV:\nCWD: NULL\nMAXPROCS: 2\nINFO: 1\n"
          "\tKEY: PMIX_SERVER_TMPDIR\n\t\t\tData type: PMIX_INFO_DIRECTIVES\tValue: OPTIONAL\n"
          "\t\t\tPMIX_VALUE:  Data type: PMIX_STRING\tValue: /tmp");
    PMIx_App_destruct(&app);
    PMIx_Info_destruct(&info);
    PMIx_Load_procid(&proc, "job", 3);
    reads(PMIx_Proc_string(&proc), "job:3");
    proc.rank = PMIX_RANK_WILDCARD;
    reads(PMIx_Proc_string(&proc), "job:WILDCARD");
    reads(PMIx_Resource_unit_string(&unit), "TYPE: GPU  COUNT: 4");
    OK(PMIx_Value_string(NULL) == NULL && PMIx_Info_string(NULL) == NULL &&
       PMIx_Proc_string(NULL) == NULL && PMIx_App_string(NULL) == NULL);
}

/* A value of every type, even an empty one, has a text. */
static void test_every_text(void)
{
    pmix_data_array_t *a;
    char *text;

    for (pmix_data_type_t type = 0; type < 80; type++) {
        pmix_value_t v = { .type = type };
        text = PMIx_Value_string(&v);
        OK_F(text != NULL, "%s", text != NULL ? text : "(NULL)");
        free(text);
        a = PMIx_Data_array_create(2, type);
        v = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a };
        text = PMIx_Value_string(&v);
        OK_F(text != NULL, "an array of %u has a text", type);
        free(text);
        PMIx_Data_array_free(a);
    }
}

/* ---- Before init ---------------------------------------------------------------------------- */

static int called;

static void answer(pmix_status_t status, void *cbdata)
{
    called += status == PMIX_ERR_INIT && cbdata == &called;
}

static void test_before_init(void)
{
    pmix_proc_t proc = PMIX_PROC_STATIC_INIT;
    pmix_nspace_t job = "job";
    pmix_value_t *v = NULL;

    EQ(PMIx_Initialized(), 0);
    EQ(PMIx_Commit(), PMIX_ERR_INIT);
    EQ(PMIx_Get(&proc, "k", NULL, 0, &v), PMIX_ERR_INIT);
    EQ(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_INIT);
    EQ(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    EQ(PMIx_tool_finalize(), PMIX_SUCCESS);
    EQ(PMIx_server_finalize(), PMIX_ERR_INIT);
    OK(!PMIx_tool_is_connected());
    PMIx_Progress();
    PMIx_server_deregister_nspace(job, answer, &called);
    PMIx_server_deregister_client(&proc, answer, &called);
    PMIx_server_deregister_nspace(job, NULL, NULL);
    EQ(called, 2);
}

int main(void)
{
    test_keys();
    test_clusters();
    test_split();
    test_vector();
    test_environment();
    test_lives();
    test_nested();
    test_fabric();
    test_arrays();
    test_buffers();
    test_item_texts();
    test_every_text();
    test_before_init();
    return tap_done();
}
