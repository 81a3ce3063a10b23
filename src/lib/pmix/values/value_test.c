/* value_test.c - values, infos and their lists, for every type: loading, unloading, copying,
 * comparing, measuring, converting, truth. */
#include "tests/tap.h"

#include <limits.h>
#include <math.h>

#include "lib/pmix/values/value.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- One item of every type, and a greater one ---------------------------------------------- */

static uint32_t axes1[] = { 4, 5 }, axes2[] = { 4, 6 };
static pmix_coord_t coords1[] = { { 1, axes1, 2 } }, coords2[] = { { 1, axes2, 2 } };
static char *lines1[] = { (char[]){ "a" }, NULL },
            *lines2[] = { (char[]){ "a" }, (char[]){ "b" }, NULL };
static int ints1[] = { 1, 2 }, ints2[] = { 1, 3 };
static pmix_disk_stats_t disks[] = { { .disk = (char[]){ "sda" }, .num_reads_merged = 7 } };
static char some[] = "some", same[] = "sane";

/* ITEM(type, C type, smaller, greater): arrays of two */
#define ITEMS(ITEM)                                                                                \
    ITEM(BOOL, bool, false, true)                                                                  \
    ITEM(BYTE, uint8_t, 1, 200)                                                                    \
    ITEM(SIZE, size_t, 1, SIZE_MAX)                                                                \
    ITEM(PID, pid_t, 1, 2)                                                                         \
    ITEM(INT, int, -1, 1)                                                                          \
    ITEM(INT8, int8_t, -1, 1)                                                                      \
    ITEM(INT16, int16_t, -1, 1)                                                                    \
    ITEM(INT32, int32_t, -1, 256)                                                                  \
    ITEM(INT64, int64_t, INT64_MIN, 1)                                                             \
    ITEM(UINT, unsigned, 1, 4000000000u)                                                           \
    ITEM(UINT8, uint8_t, 1, 200)                                                                   \
    ITEM(UINT16, uint16_t, 1, 256)                                                                 \
    ITEM(UINT32, uint32_t, 1, 4000000000u)                                                         \
    ITEM(UINT64, uint64_t, 1, UINT64_MAX)                                                          \
    ITEM(FLOAT, float, -1.5f, 2.0f)                                                                \
    ITEM(DOUBLE, double, -1.5, 2.0)                                                                \
    ITEM(TIMEVAL, struct timeval, { 1, 5 }, { 1, 6 })                                              \
    ITEM(TIME, time_t, -1, 1)                                                                      \
    ITEM(STATUS, pmix_status_t, -46, -31)                                                          \
    ITEM(PROC, pmix_proc_t, { "a", 4 }, { "b", 0 })                                                \
    ITEM(BYTE_OBJECT, pmix_byte_object_t, { some, 4 }, { same, 4 + 1 })                            \
    ITEM(PERSIST, pmix_persistence_t, 1, 2)                                                        \
    ITEM(SCOPE, pmix_scope_t, 1, 2)                                                                \
    ITEM(DATA_RANGE, pmix_data_range_t, 1, 2)                                                      \
    ITEM(COMMAND, uint8_t, 1, 2)                                                                   \
    ITEM(INFO_DIRECTIVES, pmix_info_directives_t, 1, 2)                                            \
    ITEM(DATA_TYPE, pmix_data_type_t, 1, 256)                                                      \
    ITEM(PROC_STATE, pmix_proc_state_t, 1, 2)                                                      \
    ITEM(PROC_INFO, pmix_proc_info_t, { { "a", 1 }, some, some, 1, 2, 3 },                         \
         { { "a", 1 }, some, some, 2, 2, 3 })                                                      \
    ITEM(DATA_ARRAY, pmix_data_array_t, { PMIX_INT, 2, ints1 }, { PMIX_INT, 2, ints2 })            \
    ITEM(PROC_RANK, pmix_rank_t, 1, PMIX_RANK_WILDCARD)                                            \
    ITEM(COMPRESSED_STRING, pmix_byte_object_t, { same, 4 }, { some, 4 })                          \
    ITEM(ALLOC_DIRECTIVE, pmix_alloc_directive_t, 1, 2)                                            \
    ITEM(IOF_CHANNEL, pmix_iof_channel_t, 1, 2)                                                    \
    ITEM(ENVAR, pmix_envar_t, { some, same, ':' }, { some, same, ';' })                            \
    ITEM(COORD, pmix_coord_t, { 1, axes1, 2 }, { 1, axes2, 2 })                                    \
    ITEM(REGATTR, pmix_regattr_t, { some, "pmix.x", PMIX_INT, lines1 },                            \
         { some, "pmix.x", PMIX_INT, lines2 })                                                     \
    ITEM(JOB_STATE, pmix_job_state_t, 1, 2)                                                        \
    ITEM(LINK_STATE, pmix_link_state_t, 1, 2)                                                      \
    ITEM(GEOMETRY, pmix_geometry_t, { 1, some, some, coords1, 1 }, { 1, some, some, coords2, 1 })  \
    ITEM(DEVICE_DIST, pmix_device_distance_t, { some, some, 2, 1, 2 }, { some, some, 2, 1, 3 })    \
    ITEM(ENDPOINT, pmix_endpoint_t, { some, some, { same, 4 } }, { some, some, { some, 4 } })      \
    ITEM(DEVTYPE, pmix_device_type_t, 1, 256)                                                      \
    ITEM(LOCTYPE, pmix_locality_t, 1, 256)                                                         \
    ITEM(COMPRESSED_BYTE_OBJECT, pmix_byte_object_t, { same, 4 }, { some, 4 })                     \
    ITEM(PROC_STATS, pmix_proc_stats_t, { .node = some, .pid = 1, .cmd = some },                   \
         { .node = some, .pid = 2, .cmd = some })                                                  \
    ITEM(DISK_STATS, pmix_disk_stats_t, { some, 1 }, { some, 2 })                                  \
    ITEM(NET_STATS, pmix_net_stats_t, { some, 1 }, { some, 2 })                                    \
    ITEM(NODE_STATS, pmix_node_stats_t, { .node = some, .la = 1.0f },                              \
         { .node = some, .la = 1.0f, .diskstats = disks, .ndiskstats = 1 })                        \
    ITEM(DATA_BUFFER, pmix_data_buffer_t, { same, same + 4, same, 5, 4 },                          \
         { some, some + 4, some, 5, 4 })                                                           \
    ITEM(STOR_MEDIUM, pmix_storage_medium_t, 1, 256)                                               \
    ITEM(STOR_ACCESS, pmix_storage_accessibility_t, 1, 256)                                        \
    ITEM(STOR_PERSIST, pmix_storage_persistence_t, 1, 256)                                         \
    ITEM(STOR_ACCESS_TYPE, pmix_storage_access_type_t, 1, 2)                                       \
    ITEM(DEVICE, pmix_device_t, { some, some, 2 }, { some, some, 4 })                              \
    ITEM(RESBLOCK_DIRECTIVE, pmix_resource_block_directive_t, 1, 2)                                \
    ITEM(RESOURCE_UNIT, pmix_resource_unit_t, { 2, 1 }, { 2, 2 })                                  \
    ITEM(NODE_PID, pmix_node_pid_t, { some, 1, 2 }, { some, 1, 3 })

#define ITEM(name, ctype, ...) static const ctype pair_##name[] = { __VA_ARGS__ };
ITEMS(ITEM)
#undef ITEM

static const struct item {
    const char *name;
    pmix_data_type_t type;
    size_t size;
    const void *less, *more;
} items[] = {
#define ITEM(name, ctype, ...)                                                                     \
    { #name, PMIX_##name, sizeof(ctype), &pair_##name[0], &pair_##name[1] },
    ITEMS(ITEM)
#undef ITEM
        { "STRING", PMIX_STRING, 0, "sane", "some" },
    { "PROC_NSPACE", PMIX_PROC_NSPACE, sizeof(pmix_nspace_t), "aaa", "bbb" },
    { "REGEX", PMIX_REGEX, 0, "raw:aaa", "raw:bbb" },
};

/* ---- Operations that every type must support ------------------------------------------------- */

static bool same_memory(const pmix_value_t *a, const pmix_value_t *b)
{
    enum shape shape = value_shape(a->type);

    return shape != SHAPE_FLAT && a->data.ptr != NULL && a->data.ptr == b->data.ptr;
}

static bool unloads(pmix_value_t *v, const struct item *it)
{
    void *data = NULL;
    size_t size = 0;
    pmix_value_t again;
    bool good = PMIx_Value_unload(v, &data, &size) == PMIX_SUCCESS && data != NULL;

    if (it->size != 0 && value_shape(it->type) != SHAPE_BYTES && it->type != PMIX_PROC_NSPACE)
        good = good && size == it->size;
    if (good && value_shape(it->type) == SHAPE_BYTES) { /* the bytes only */
        good = size == v->data.bo.size && memcmp(data, v->data.bo.bytes, size) == 0;
    } else if (good) {
        good = PMIx_Value_load(&again, data, it->type) == PMIX_SUCCESS &&
               PMIx_Value_compare(v, &again) == PMIX_EQUAL;
        PMIx_Value_destruct(&again);
        if (value_shape(it->type) == SHAPE_HEAP || value_shape(it->type) == SHAPE_ENVAR)
            pmem_free(ptype_find(it->type), data, 1, NULL);
    }
    free(data);
    return good;
}

static void every_type(const struct item *it)
{
    pmix_value_t less, more, copy, none;
    size_t size = 0;

    memset(&less, 0x55, sizeof less);
    memset(&copy, 0x55, sizeof copy);
    OK_F(PMIx_Value_load(&less, it->less, it->type) == PMIX_SUCCESS &&
             PMIx_Value_load(&more, it->more, it->type) == PMIX_SUCCESS,
         "%s is loaded", it->name);
    OK_F(less.type == it->type && PMIx_Value_compare(&less, &more) == PMIX_VALUE2_GREATER &&
             PMIx_Value_compare(&more, &less) == PMIX_VALUE1_GREATER,
         "%s has an order", it->name);
    OK_F(PMIx_Value_xfer(&copy, &more) == PMIX_SUCCESS &&
             PMIx_Value_compare(&copy, &more) == PMIX_EQUAL && !same_memory(&copy, &more),
         "%s is copied", it->name);
    OK_F(unloads(&more, it), "%s is unloaded", it->name);
    OK_F(PMIx_Value_get_size(&more, &size) == PMIX_SUCCESS && size > sizeof more, "%s has a size",
         it->name);
    OK_F(PMIx_Value_load(&none, NULL, it->type) == PMIX_SUCCESS && none.type == it->type &&
             none.data.flag == (it->type == PMIX_BOOL),
         "%s may be empty", it->name);
    PMIx_Value_destruct(&less);
    PMIx_Value_destruct(&more);
    PMIx_Value_destruct(&copy);
    PMIx_Value_xfer(&copy, &none);
    OK_F(copy.type == it->type && PMIx_Value_compare(&copy, &none) == PMIX_EQUAL,
         "an empty %s is copied", it->name);
    PMIx_Value_destruct(&copy);
    PMIx_Value_destruct(&none);
    OK_F(none.type == PMIX_UNDEF && none.data.ptr == NULL, "nothing is left of a %s", it->name);
}

/* ---- Special cases -------------------------------------------------------------------------- */

static void test_no_type(void)
{
    static const pmix_data_type_t none[] = { PMIX_VALUE, PMIX_INFO, PMIX_APP,          PMIX_PDATA,
                                             PMIX_QUERY, PMIX_KVAL, PMIX_BUFFER,       29,
                                             44,         74,        PMIX_DATA_TYPE_MAX };
    pmix_value_t v, copy;
    int number = 5;
    void *data = &number;
    size_t size;

    for (size_t i = 0; i < COUNT(none); i++) {
        memset(&v, 0x55, sizeof v);
        OK_F(PMIx_Value_load(&v, &number, none[i]) == PMIX_ERR_UNKNOWN_DATA_TYPE &&
                 v.type == PMIX_UNDEF,
             "no value holds type %u", none[i]);
        v.type = none[i];
        OK_F(PMIx_Value_xfer(&copy, &v) == PMIX_ERROR && copy.type == PMIX_UNDEF &&
                 PMIx_Value_unload(&v, &data, &size) == PMIX_ERR_UNKNOWN_DATA_TYPE &&
                 PMIx_Value_get_size(&v, &size) == PMIX_ERR_UNKNOWN_DATA_TYPE,
             "nothing is done with type %u", none[i]);
        PMIx_Value_destruct(&v);
    }
    EQ(PMIx_Value_load(NULL, &number, PMIX_INT), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Value_load(&v, &number, PMIX_UNDEF), PMIX_SUCCESS);
    EQ(v.type, PMIX_UNDEF);
    EQ(PMIx_Value_unload(&v, &data, &size), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EQ(PMIx_Value_unload(&v, NULL, &size), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Value_get_size(&v, &size), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EQ(PMIx_Value_xfer(NULL, &v), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Value_xfer(&v, NULL), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Value_compare(&v, NULL), PMIX_VALUE_COMPARISON_NOT_AVAIL);
}

static void test_pointer(void)
{
    pmix_value_t v;
    int here = 0;
    void *data = NULL;
    size_t size = 0;

    EQ(PMIx_Value_load(&v, &here, PMIX_POINTER), PMIX_SUCCESS);
    OK(v.data.ptr == &here);
    EQ(PMIx_Value_unload(&v, &data, &size), PMIX_SUCCESS);
    OK(data == &here && size == sizeof(void *));
    PMIx_Value_destruct(&v);
    EQ(here, 0);
}

static void test_text(void)
{
    pmix_value_t v, w;
    char *text = NULL;
    size_t size = 0;

    PMIx_Value_load(&v, "hello", PMIX_STRING);
    EQ(PMIx_Value_unload(&v, (void **)&text, &size), PMIX_SUCCESS);
    OK(size == 5 && strcmp(text, "hello") == 0 && text != v.data.string);
    free(text);
    EQ(PMIx_Value_get_size(&v, &size), PMIX_SUCCESS);
    EQ(size, sizeof v + 6);
    PMIx_Value_load(&w, NULL, PMIX_STRING);
    EQ(PMIx_Value_unload(&w, (void **)&text, &size), PMIX_SUCCESS);
    OK(text == NULL && size == 0);
    EQ(PMIx_Value_compare(&v, &w), PMIX_VALUE1_GREATER);
    EQ(PMIx_Value_compare(&w, &v), PMIX_VALUE2_GREATER);
    EQ(PMIx_Value_compare(&w, &w), PMIX_EQUAL);
    PMIx_Value_destruct(&w);
    PMIx_Value_load(&w, "", PMIX_STRING);
    EQ(PMIx_Value_unload(&w, (void **)&text, &size), PMIX_SUCCESS);
    OK(text != NULL && *text == '\0' && size == 0);
    free(text);
    PMIx_Value_destruct(&w);
    PMIx_Value_destruct(&v);
}

static void test_into_caller(void)
{
    pmix_value_t v;
    uint32_t number = 0, *place = &number;
    pmix_proc_t proc, *procs = &proc;
    size_t size = 0;

    PMIx_Value_load(&v, &(uint32_t){ 1234 }, PMIX_UINT32);
    EQ(PMIx_Value_unload(&v, (void **)&place, &size), PMIX_SUCCESS);
    OK(place == &number && number == 1234 && size == 4);
    PMIx_Load_procid(&proc, "elsewhere", 9);
    PMIx_Value_load(&v, &proc, PMIX_PROC);
    memset(&proc, 0, sizeof proc);
    EQ(PMIx_Value_unload(&v, (void **)&procs, &size), PMIX_SUCCESS);
    OK(procs == &proc && size == sizeof proc && proc.rank == 9);
    PMIx_Value_destruct(&v);
}

static void test_compare_kinds(void)
{
    pmix_coord_t a = { 1, axes1, 2 }, b = { 2, axes1, 2 }, shorter = { 1, axes1, 1 };
    pmix_geometry_t g = { 1, some, some, coords1, 1 }, h = { 2, some, some, coords1, 1 };
    pmix_data_array_t ints = { PMIX_INT, 2, ints1 }, uints = { PMIX_UINT, 2, ints1 },
                      one = { PMIX_INT, 1, ints2 };
    pmix_value_t v = { .type = PMIX_COORD, .data.coord = &a }, w = v;

    w.data.coord = &b;
    EQ(PMIx_Value_compare(&v, &w), PMIX_VALUE_INCOMPATIBLE_OBJECTS);
    w.data.coord = &shorter;
    EQ(PMIx_Value_compare(&v, &w), PMIX_VALUE1_GREATER);
    EQ(PMIx_Value_compare(&w, &v), PMIX_VALUE2_GREATER);
    v = (pmix_value_t){ .type = PMIX_GEOMETRY, .data.geometry = &g };
    w = (pmix_value_t){ .type = PMIX_GEOMETRY, .data.geometry = &h };
    EQ(PMIx_Value_compare(&v, &w), PMIX_VALUE_INCOMPATIBLE_OBJECTS);
    v = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &ints };
    w = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &uints };
    EQ(PMIx_Value_compare(&v, &w), PMIX_VALUE_TYPE_DIFFERENT);
    w.data.darray = &one;
    EQ(PMIx_Value_compare(&v, &w), PMIX_VALUE1_GREATER);
    EQ(PMIx_Value_compare(&v, &(pmix_value_t){ .type = PMIX_INT }), PMIX_VALUE_TYPE_DIFFERENT);
    v.type = w.type = PMIX_KVAL;
    EQ(PMIx_Value_compare(&v, &w), PMIX_VALUE_COMPARISON_NOT_AVAIL);
}

/* A value in an array in a value …: 40 deep is copied, measured, compared and released. */
static void test_deep(void)
{
    pmix_value_t v, outer, copy;
    size_t size;

    PMIx_Value_load(&v, "core", PMIX_STRING);
    for (int i = 0; i < 30; i++) {
        pmix_data_array_t *a = PMIx_Data_array_create(1, PMIX_VALUE);
        ((pmix_value_t *)a->array)[0] = v;
        outer = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a };
        v = outer;
    }
    EQ(PMIx_Value_xfer(&copy, &v), PMIX_SUCCESS);
    EQ(PMIx_Value_compare(&copy, &v), PMIX_EQUAL);
    EQ(PMIx_Value_get_size(&v, &size), PMIX_SUCCESS);
    EQ(size, sizeof v + 30 * (sizeof(pmix_data_array_t) + sizeof v) + 5);
    PMIx_Value_destruct(&v);
    PMIx_Value_destruct(&copy);
}

/* ---- Truth ---------------------------------------------------------------------------------- */

static void truth(const char *text, pmix_boolean_t want)
{
    pmix_value_t v;

    PMIx_Value_load(&v, text, PMIX_STRING);
    OK_F(PMIx_Value_true(&v) == want, "\"%s\" is %s", text != NULL ? text : "(NULL)",
         want == PMIX_BOOL_TRUE    ? "true"
         : want == PMIX_BOOL_FALSE ? "false"
                                   : "neither");
    PMIx_Value_destruct(&v);
}

static void test_truth(void)
{
    static const char *const yes[] = { "true", "TRUE", "True", "t",     "T",      "yes",
                                       "Yes",  "y",    "1",    "2",     "-1",     "10",
                                       "01",   "",     "  ",   " yes ", "enable", "+3" };
    static const char *const no[] = { "false", "FALSE", "f",   "no",      "No", "n",
                                      "0",     "00",    " 0 ", "disable", "-0" };
    static const char *const neither[] = {
        "on", "off", "tru", "truely", "falsey", "x", "-", "maybe"
    };
    pmix_value_t v = PMIX_VALUE_STATIC_INIT;

    for (size_t i = 0; i < COUNT(yes); i++)
        truth(yes[i], PMIX_BOOL_TRUE);
    for (size_t i = 0; i < COUNT(no); i++)
        truth(no[i], PMIX_BOOL_FALSE);
    for (size_t i = 0; i < COUNT(neither); i++)
        truth(neither[i], PMIX_NON_BOOL);
    truth(NULL, PMIX_BOOL_TRUE);
    EQ(PMIx_Value_true(&v), PMIX_BOOL_TRUE);
    PMIx_Value_load(&v, NULL, PMIX_BOOL);
    EQ(PMIx_Value_true(&v), PMIX_BOOL_TRUE);
    PMIx_Value_load(&v, &(bool){ false }, PMIX_BOOL);
    EQ(PMIx_Value_true(&v), PMIX_BOOL_FALSE);
    PMIx_Value_load(&v, &(int){ 1 }, PMIX_INT);
    EQ(PMIx_Value_true(&v), PMIX_NON_BOOL);
}

/* ---- Numbers -------------------------------------------------------------------------------- */

#define NUMBER(from_type, from_ctype, from, to_type, to_ctype, status, want)                       \
    do {                                                                                           \
        pmix_value_t v_;                                                                           \
        to_ctype got_ = 0;                                                                         \
        PMIx_Value_load(&v_, &(from_ctype){ from }, from_type);                                    \
        OK_F(PMIx_Value_get_number(&v_, &got_, to_type) == (status) && got_ == (to_ctype)(want),   \
             #from_type " " #from " as " #to_type);                                                \
    } while (0)

static void test_numbers(void)
{
    pmix_value_t v;
    int n = 0;

    NUMBER(PMIX_INT, int, -3, PMIX_INT, int, PMIX_SUCCESS, -3);
    NUMBER(PMIX_INT, int, 127, PMIX_INT8, int8_t, PMIX_SUCCESS, 127);
    NUMBER(PMIX_INT, int, 128, PMIX_INT8, int8_t, PMIX_ERR_LOST_PRECISION, 0);
    NUMBER(PMIX_INT, int, -128, PMIX_INT8, int8_t, PMIX_SUCCESS, -128);
    NUMBER(PMIX_INT, int, -129, PMIX_INT8, int8_t, PMIX_ERR_LOST_PRECISION, 0);
    NUMBER(PMIX_INT, int, -1, PMIX_UINT32, uint32_t, PMIX_ERR_CHANGE_SIGN, 0);
    NUMBER(PMIX_INT64, int64_t, INT64_MIN, PMIX_INT64, int64_t, PMIX_SUCCESS, INT64_MIN);
    NUMBER(PMIX_INT64, int64_t, INT64_MIN, PMIX_DOUBLE, double, PMIX_SUCCESS, INT64_MIN);
    NUMBER(PMIX_UINT64, uint64_t, UINT64_MAX, PMIX_UINT64, uint64_t, PMIX_SUCCESS, UINT64_MAX);
    NUMBER(PMIX_UINT64, uint64_t, UINT64_MAX, PMIX_INT64, int64_t, PMIX_ERR_LOST_PRECISION, 0);
    NUMBER(PMIX_UINT64, uint64_t, INT64_MAX, PMIX_INT64, int64_t, PMIX_SUCCESS, INT64_MAX);
    NUMBER(PMIX_UINT8, uint8_t, 200, PMIX_UINT16, uint16_t, PMIX_SUCCESS, 200);
    NUMBER(PMIX_UINT8, uint8_t, 200, PMIX_INT8, int8_t, PMIX_ERR_LOST_PRECISION, 0);
    NUMBER(PMIX_SIZE, size_t, 65536, PMIX_UINT16, uint16_t, PMIX_ERR_LOST_PRECISION, 0);
    NUMBER(PMIX_DOUBLE, double, 2.75, PMIX_INT, int, PMIX_SUCCESS, 2);
    NUMBER(PMIX_DOUBLE, double, -2.75, PMIX_INT, int, PMIX_SUCCESS, -2);
    NUMBER(PMIX_DOUBLE, double, -2.75, PMIX_UINT, unsigned, PMIX_ERR_CHANGE_SIGN, 0);
    NUMBER(PMIX_DOUBLE, double, -0.5, PMIX_UINT, unsigned, PMIX_SUCCESS, 0);
    NUMBER(PMIX_DOUBLE, double, 1e30, PMIX_INT64, int64_t, PMIX_ERR_LOST_PRECISION, 0);
    NUMBER(PMIX_DOUBLE, double, 1e300, PMIX_FLOAT, float, PMIX_ERR_LOST_PRECISION, 0);
    NUMBER(PMIX_DOUBLE, double, NAN, PMIX_INT, int, PMIX_ERR_LOST_PRECISION, 0);
    NUMBER(PMIX_DOUBLE, double, INFINITY, PMIX_UINT64, uint64_t, PMIX_ERR_LOST_PRECISION, 0);
    NUMBER(PMIX_FLOAT, float, 1.5f, PMIX_DOUBLE, double, PMIX_SUCCESS, 1.5);
    NUMBER(PMIX_UINT32, uint32_t, 7, PMIX_FLOAT, float, PMIX_SUCCESS, 7);
    NUMBER(PMIX_PROC_RANK, pmix_rank_t, 7, PMIX_PID, pid_t, PMIX_SUCCESS, 7);
    NUMBER(PMIX_STATUS, pmix_status_t, -46, PMIX_INT16, int16_t, PMIX_SUCCESS, -46);
    NUMBER(PMIX_TIME, time_t, 1700000000, PMIX_UINT32, uint32_t, PMIX_SUCCESS, 1700000000);
    PMIx_Value_load(&v, "7", PMIX_STRING);
    EQ(PMIx_Value_get_number(&v, &n, PMIX_INT), PMIX_ERR_BAD_PARAM);
    PMIx_Value_destruct(&v);
    PMIx_Value_load(&v, &(int){ 7 }, PMIX_INT);
    EQ(PMIx_Value_get_number(&v, &n, PMIX_STRING), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Value_get_number(&v, &n, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Value_get_number(&v, &n, 999), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Value_get_number(NULL, &n, PMIX_INT), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Value_get_number(&v, NULL, PMIX_INT), PMIX_ERR_BAD_PARAM);
}

/* ---- Infos ---------------------------------------------------------------------------------- */

static void test_info(void)
{
    pmix_info_t info, copy;
    char key[700];
    size_t size;

    memset(&info, 0x55, sizeof info);
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = '\0';
    EQ(PMIx_Info_load(&info, PMIX_TIMEOUT, &(int){ 60 }, PMIX_INT), PMIX_SUCCESS);
    OK(strcmp(info.key, "pmix.timeout") == 0 && info.flags == 0 && info.value.data.integer == 60);
    OK(info.key[PMIX_MAX_KEYLEN] == '\0' && info.key[20] == '\0');
    EQ(PMIx_Info_get_size(&info, &size), PMIX_SUCCESS);
    EQ(size, sizeof info + sizeof info.value + sizeof(int) + 13);
    EQ(PMIx_Info_load(&info, NULL, NULL, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Info_load(NULL, "a", NULL, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Info_load(&info, key, "text", PMIX_STRING), PMIX_SUCCESS);
    EQ(strlen(info.key), PMIX_MAX_KEYLEN);
    info.flags = PMIX_INFO_REQD | PMIX_INFO_QUALIFIER;
    EQ(PMIx_Info_xfer(&copy, &info), PMIX_SUCCESS);
    OK(copy.flags == info.flags && strcmp(copy.key, info.key) == 0);
    OK(copy.value.data.string != info.value.data.string);
    PMIx_Info_destruct(&copy);
    PMIx_Info_persistent(&info);
    EQ(PMIx_Info_xfer(&copy, &info), PMIX_SUCCESS);
    OK(copy.value.data.string == info.value.data.string && PMIx_Info_is_persistent(&copy));
    PMIx_Info_destruct(&copy); /* borrowed: nothing happens */
    OK(strcmp(info.value.data.string, "text") == 0);
    info.flags = 0;
    PMIx_Info_destruct(&info);
    EQ(PMIx_Info_xfer(NULL, &info), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Info_xfer(&info, NULL), PMIX_ERR_BAD_PARAM);
}

static void test_flags(void)
{
    pmix_info_t info = PMIX_INFO_STATIC_INIT;

    OK(PMIx_Info_is_optional(&info) && !PMIx_Info_is_required(&info));
    PMIx_Info_required(&info);
    OK(PMIx_Info_is_required(&info) && !PMIx_Info_is_optional(&info));
    PMIx_Info_processed(&info);
    OK(PMIx_Info_was_processed(&info));
    PMIx_Info_set_end(&info);
    OK(PMIx_Info_is_end(&info) && !PMIx_Info_is_qualifier(&info));
    PMIx_Info_qualifier(&info);
    OK(PMIx_Info_is_qualifier(&info) && !PMIx_Info_is_persistent(&info));
    PMIx_Info_persistent(&info);
    EQ(info.flags, 0x1f);
    PMIx_Info_optional(&info);
    EQ(info.flags, 0x1e);
    EQ(PMIx_Info_true(&info), PMIX_BOOL_TRUE);
}

static void test_list(void)
{
    void *list = PMIx_Info_list_start(), *next = NULL;
    pmix_data_array_t array = { .type = PMIX_INT, .size = 99, .array = NULL };
    pmix_info_t info, *infos;
    pmix_value_t value;

    EQ(PMIx_Info_list_get_size(list), 0);
    EQ(PMIx_Info_list_convert(list, &array), PMIX_ERR_EMPTY);
    OK(array.type == PMIX_INT && array.size == 99);
    OK(PMIx_Info_list_get_info(list, NULL, &next) == NULL && next == NULL);
    PMIx_Info_load(&info, "c", "borrowed", PMIX_STRING);
    PMIx_Value_load(&value, "value", PMIX_STRING);
    EQ(PMIx_Info_list_prepend(list, "first", NULL, PMIX_BOOL), PMIX_SUCCESS);
    EQ(PMIx_Info_list_add(list, "a", &(int){ 1 }, PMIX_INT), PMIX_SUCCESS);
    EQ(PMIx_Info_list_prepend(list, "zero", &(int){ 0 }, PMIX_INT), PMIX_SUCCESS);
    EQ(PMIx_Info_list_xfer(list, &info), PMIX_SUCCESS);
    EQ(PMIx_Info_list_insert(list, &info), PMIX_SUCCESS);
    EQ(info.flags, 0);
    EQ(PMIx_Info_list_add_value(list, "v", &value), PMIX_SUCCESS);
    EQ(PMIx_Info_list_get_size(list), 6);
    EQ(PMIx_Info_list_add_unique(list, "a", &(int){ 2 }, PMIX_INT, false), PMIX_SUCCESS);
    EQ(PMIx_Info_list_add_unique(list, "b", &(int){ 3 }, PMIX_INT, false), PMIX_SUCCESS);
    EQ(PMIx_Info_list_add_value_unique(list, "v", &value, true), PMIX_SUCCESS);
    EQ(PMIx_Info_list_xfer_unique(list, &info, true), PMIX_SUCCESS);
    EQ(PMIx_Info_list_get_size(list), 7);
    EQ(PMIx_Info_list_convert(list, &array), PMIX_SUCCESS);
    infos = array.array;
    OK(array.type == PMIX_INFO && array.size == 7 && strcmp(infos[0].key, "zero") == 0 &&
       strcmp(infos[1].key, "first") == 0 && strcmp(infos[2].key, "a") == 0);
    OK(infos[1].value.data.flag && infos[2].value.data.integer == 1);
    OK(infos[4].value.data.string == info.value.data.string && PMIx_Info_is_persistent(&infos[4]));
    OK(infos[3].value.data.string != info.value.data.string && infos[3].flags == 0);
    PMIx_Info_list_add_unique(list, "a", &(int){ 2 }, PMIX_INT, true);
    PMIx_Data_array_destruct(&array);
    OK(array.array == NULL && array.size == 0 && array.type == PMIX_UNDEF);

    size_t seen = 0;
    int last = 0;
    void *at = NULL;
    do {
        pmix_info_t *one = PMIx_Info_list_get_info(list, at, &next);
        if (strcmp(one->key, "a") == 0)
            last = one->value.data.integer;
        at = next;
        seen++;
    } while (at != NULL);
    OK(seen == 7 && last == 2);
    PMIx_Info_list_release(list);
    OK(strcmp(info.value.data.string, "borrowed") == 0);
    PMIx_Info_destruct(&info);
    PMIx_Value_destruct(&value);
    EQ(PMIx_Info_list_add(NULL, "a", NULL, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Info_list_convert(NULL, &array), PMIX_ERR_BAD_PARAM);
    PMIx_Info_list_release(NULL);
}

/* Overwriting a borrowed value makes the entry own its new one, and leaves the owner's alone. */
static void test_list_overwrites_borrowed(void)
{
    void *list = PMIx_Info_list_start();
    pmix_info_t info;

    PMIx_Info_load(&info, "k", "mine", PMIX_STRING);
    PMIx_Info_list_insert(list, &info);
    EQ(PMIx_Info_list_add_unique(list, "k", "new", PMIX_STRING, true), PMIX_SUCCESS);
    EQ(PMIx_Info_list_get_size(list), 1);
    PMIx_Info_list_release(list);
    OK(strcmp(info.value.data.string, "mine") == 0);
    PMIx_Info_destruct(&info);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(items); i++)
        every_type(&items[i]);
    test_no_type();
    test_pointer();
    test_text();
    test_into_caller();
    test_compare_kinds();
    test_deep();
    test_truth();
    test_numbers();
    test_info();
    test_flags();
    test_list();
    test_list_overwrites_borrowed();
    return tap_done();
}
