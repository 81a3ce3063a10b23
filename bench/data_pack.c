/* data_pack.c - packing, unpacking and copying items, alone and in arrays.
 *
 * Times are those of eight units.
 */
#include <stdio.h>
#include <stdlib.h>

#include "data.h"
#include "wire/pmix_mem.h"

struct item {
    pmix_data_type_t type;
    int32_t count;
    void *data;  /* count of them; for STRING a char ** */
    size_t size; /* of one */
};

static char text[] = "a text of forty characters, as keys have";
static char blob[4096];
static int ints[1000];
static uint64_t longs[1000];
static double reals[100];
static char *texts[100];
static pmix_proc_t procs[64];
static pmix_info_t infos[20];
static pmix_value_t value = { .type = PMIX_UINT32, .data = { .uint32 = 123456 } };
static pmix_byte_object_t bytes = { blob, sizeof blob };
static pmix_data_array_t int_array = { PMIX_INT, 1000, ints };
static pmix_data_array_t info_array = { PMIX_INFO, 20, infos };
static pmix_envar_t envar = { (char *)"PATH", (char *)"/usr/bin:/bin", ':' };
static uint32_t axes[] = { 1, 2, 3 };
static pmix_coord_t coords[] = { { 1, axes, 3 }, { 1, axes, 3 } };
static pmix_geometry_t geometry = { 1, text, text, coords, 2 };
static pmix_proc_info_t proc_info = { { "job-1234", 7 }, text, text, 4711, 0, 5 };
static char *argv[] = { text, text, text, NULL };
static pmix_app_t app = { text, argv, argv, text, 16, infos, 5 };
static pmix_query_t query = { argv, infos, 3 };
static pmix_device_distance_t distances[16];

static void prepare(void)
{
    if (texts[0] != NULL)
        return;
    for (int i = 0; i < 1000; i++) {
        ints[i] = i * 977 - 300000;
        longs[i] = (uint64_t)i << (i % 50);
    }
    for (int i = 0; i < 100; i++) {
        reals[i] = i * 1.25;
        texts[i] = text;
    }
    for (unsigned i = 0; i < 64; i++) {
        strcpy(procs[i].nspace, "job-1234");
        procs[i].rank = i;
    }
    for (unsigned i = 0; i < 20; i++) {
        snprintf(infos[i].key, sizeof infos[i].key, "pmix.key.%u", i);
        infos[i].value.type = i % 2 ? PMIX_STRING : PMIX_UINT32;
        if (i % 2)
            infos[i].value.data.string = text;
    }
    for (int i = 0; i < 16; i++)
        distances[i] = (pmix_device_distance_t){ text, text, 2, 10, 20 };
}

/* As messages are made: a few units in one buffer, which is dropped then. */
enum { UNITS = 8 };

static void fill(const struct data_calls *lib, const struct item *it, pmix_data_buffer_t *buffer)
{
    for (int k = 0; k < UNITS; k++)
        lib->PMIx_Data_pack(NULL, buffer, it->data, it->count, it->type);
}

static void pack(const struct data_calls *lib, unsigned n, const void *with)
{
    prepare();
    for (unsigned i = 0; i < n; i++) {
        pmix_data_buffer_t buffer = PMIX_DATA_BUFFER_STATIC_INIT;
        fill(lib, with, &buffer);
        free(buffer.base_ptr);
    }
}

/* Into memory that is there; what the items own then is given back in the same way for either. */
static void unpack(const struct data_calls *lib, unsigned n, const void *with)
{
    static _Alignas(16) char room[1 << 20];
    const struct item *it = with;
    const struct ptype *t = ptype_find(it->type);
    pmix_data_buffer_t buffer = PMIX_DATA_BUFFER_STATIC_INIT;

    prepare();
    fill(lib, it, &buffer);
    for (unsigned i = 0; i < n; i++) {
        buffer.unpack_ptr = buffer.base_ptr;
        for (int k = 0; k < UNITS; k++) {
            int32_t count = it->count;
            lib->PMIx_Data_unpack(NULL, &buffer, room, &count, it->type);
            pmem_release(t, room, (size_t)count, NULL);
        }
    }
    free(buffer.base_ptr);
}

static void copy(const struct data_calls *lib, unsigned n, const void *with)
{
    const struct item *it = with;

    prepare();
    for (unsigned i = 0; i < n; i++) {
        pmix_data_array_t got = { it->type, 1, NULL };
        lib->PMIx_Data_copy(&got.array, it->data, it->type);
        lib->PMIx_Data_array_destruct(&got);
    }
}

/* ITEM(name, type, count, address) */
#define ITEMS(ITEM)                                                                                \
    ITEM(int, PMIX_INT, 1, ints)                                                                   \
    ITEM(ints_1000, PMIX_INT, 1000, ints)                                                          \
    ITEM(uint64s_1000, PMIX_UINT64, 1000, longs)                                                   \
    ITEM(doubles_100, PMIX_DOUBLE, 100, reals)                                                     \
    ITEM(string, PMIX_STRING, 1, texts)                                                            \
    ITEM(strings_100, PMIX_STRING, 100, texts)                                                     \
    ITEM(proc, PMIX_PROC, 1, procs)                                                                \
    ITEM(procs_64, PMIX_PROC, 64, procs)                                                           \
    ITEM(value, PMIX_VALUE, 1, &value)                                                             \
    ITEM(info, PMIX_INFO, 1, infos)                                                                \
    ITEM(infos_20, PMIX_INFO, 20, infos)                                                           \
    ITEM(bytes_4096, PMIX_BYTE_OBJECT, 1, &bytes)                                                  \
    ITEM(envar, PMIX_ENVAR, 1, &envar)                                                             \
    ITEM(proc_info, PMIX_PROC_INFO, 1, &proc_info)                                                 \
    ITEM(app, PMIX_APP, 1, &app)                                                                   \
    ITEM(query, PMIX_QUERY, 1, &query)                                                             \
    ITEM(geometry, PMIX_GEOMETRY, 1, &geometry)                                                    \
    ITEM(distances_16, PMIX_DEVICE_DIST, 16, distances)

/* Arrays inside one item: the other library cannot take an array of them apart. */
#define ARRAYS(ITEM)                                                                               \
    ITEM(array_of_1000, PMIX_DATA_ARRAY, 1, &int_array)                                            \
    ITEM(array_of_infos, PMIX_DATA_ARRAY, 1, &info_array)

#define ITEM(name, type, count, address)                                                           \
    static const struct item item_##name = { type, count, address };
ITEMS(ITEM)
ARRAYS(ITEM)
#undef ITEM

const struct data_case pack_cases[] = {
#define PACK(name, type, count, address)   { "pack_" #name, pack, &item_##name },
#define UNPACK(name, type, count, address) { "unpack_" #name, unpack, &item_##name },
    ITEMS(PACK) ARRAYS(PACK) ITEMS(UNPACK){ "copy_item_proc", copy, &item_proc },
    { "copy_item_info", copy, &item_info },
    { "copy_item_app", copy, &item_app },
    { "copy_item_query", copy, &item_query },
    { "copy_item_geometry", copy, &item_geometry },
    { NULL, NULL, NULL },
};
