/* data_values.c - values, infos and names: what programs do with them all day. */
#include <stdio.h>
#include <stdlib.h>

#include "data.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static char long_text[201];
static char blob[4096];
static uint32_t numbers[1000];
static pmix_proc_t procs[64];
static pmix_info_t infos[20];

static void prepare(void)
{
    if (long_text[0] != '\0')
        return;
    memset(long_text, 'x', sizeof long_text - 1);
    for (unsigned i = 0; i < 64; i++) {
        strcpy(procs[i].nspace, "job-1234");
        procs[i].rank = i;
    }
    for (unsigned i = 0; i < 20; i++) {
        snprintf(infos[i].key, sizeof infos[i].key, "pmix.key.%u", i);
        infos[i].value.type = i % 2 ? PMIX_STRING : PMIX_UINT32;
        if (i % 2)
            infos[i].value.data.string = long_text;
    }
}

/* Loading and releasing. */
#define LOADS(name, type, address)                                                                 \
    static void load_##name(const struct data_calls *lib, unsigned n, const void *with)            \
    {                                                                                              \
        prepare();                                                                                 \
        for (unsigned i = 0; i < n; i++) {                                                         \
            pmix_value_t v;                                                                        \
            lib->PMIx_Value_load(&v, address, type);                                               \
            lib->PMIx_Value_destruct(&v);                                                          \
        }                                                                                          \
    }

/* A copy, compared and released. */
#define COPIES(name, type, address)                                                                \
    static void copy_##name(const struct data_calls *lib, unsigned n, const void *with)            \
    {                                                                                              \
        pmix_value_t v, w;                                                                         \
        prepare();                                                                                 \
        lib->PMIx_Value_load(&v, address, type);                                                   \
        for (unsigned i = 0; i < n; i++) {                                                         \
            memset(&w, 0, sizeof w);                                                               \
            lib->PMIx_Value_xfer(&w, &v);                                                          \
            lib->PMIx_Value_destruct(&w);                                                          \
        }                                                                                          \
        lib->PMIx_Value_destruct(&v);                                                              \
    }

#define COMPARES(name, type, address)                                                              \
    static void compare_##name(const struct data_calls *lib, unsigned n, const void *with)         \
    {                                                                                              \
        pmix_value_t v, w;                                                                         \
        prepare();                                                                                 \
        lib->PMIx_Value_load(&v, address, type);                                                   \
        lib->PMIx_Value_load(&w, address, type);                                                   \
        for (unsigned i = 0; i < n; i++)                                                           \
            lib->PMIx_Value_compare(&v, &w);                                                       \
        lib->PMIx_Value_destruct(&v);                                                              \
        lib->PMIx_Value_destruct(&w);                                                              \
    }

static pmix_byte_object_t bytes = { blob, sizeof blob };
static pmix_data_array_t number_array = { PMIX_UINT32, 1000, numbers };
static pmix_data_array_t proc_array = { PMIX_PROC, 64, procs };
static pmix_data_array_t info_array = { PMIX_INFO, 20, infos };
static pmix_envar_t envar = { (char *)"PATH", (char *)"/usr/bin:/bin", ':' };
static const int five = 5;

#define KINDS(KIND)                                                                                \
    KIND(int, PMIX_INT, &five)                                                                     \
    KIND(text, PMIX_STRING, long_text)                                                             \
    KIND(proc, PMIX_PROC, &procs[7])                                                               \
    KIND(envar, PMIX_ENVAR, &envar)                                                                \
    KIND(bytes, PMIX_BYTE_OBJECT, &bytes)                                                          \
    KIND(numbers, PMIX_DATA_ARRAY, &number_array)                                                  \
    KIND(procs, PMIX_DATA_ARRAY, &proc_array)                                                      \
    KIND(infos, PMIX_DATA_ARRAY, &info_array)

KINDS(LOADS)
KINDS(COPIES)
KINDS(COMPARES)

static void unload_int(const struct data_calls *lib, unsigned n, const void *with)
{
    pmix_value_t v;
    int got, *place = &got;
    size_t size;

    lib->PMIx_Value_load(&v, &five, PMIX_INT);
    for (unsigned i = 0; i < n; i++)
        lib->PMIx_Value_unload(&v, (void **)&place, &size);
}

static void unload_text(const struct data_calls *lib, unsigned n, const void *with)
{
    pmix_value_t v;
    char *text = NULL;
    size_t size;

    prepare();
    lib->PMIx_Value_load(&v, long_text, PMIX_STRING);
    for (unsigned i = 0; i < n; i++) {
        lib->PMIx_Value_unload(&v, (void **)&text, &size);
        free(text);
    }
    lib->PMIx_Value_destruct(&v);
}

static void info_load(const struct data_calls *lib, unsigned n, const void *with)
{
    pmix_info_t info;

    for (unsigned i = 0; i < n; i++) {
        lib->PMIx_Info_load(&info, PMIX_TIMEOUT, &five, PMIX_INT);
        lib->PMIx_Value_destruct(&info.value);
    }
}

static void info_xfer(const struct data_calls *lib, unsigned n, const void *with)
{
    pmix_info_t copy;

    prepare();
    for (unsigned i = 0; i < n; i++) {
        memset(&copy.value, 0, sizeof copy.value);
        lib->PMIx_Info_xfer(&copy, &infos[1]);
        lib->PMIx_Value_destruct(&copy.value);
    }
}

static void info_list(const struct data_calls *lib, unsigned n, const void *with)
{
    prepare();
    for (unsigned i = 0; i < n; i++) {
        void *list = lib->PMIx_Info_list_start();
        pmix_data_array_t array;
        for (unsigned k = 0; k < 20; k++)
            lib->PMIx_Info_list_add(list, infos[k].key, &five, PMIX_INT);
        lib->PMIx_Info_list_convert(list, &array);
        lib->PMIx_Info_list_release(list);
        lib->PMIx_Data_array_destruct(&array);
    }
}

/* Calls that only look something up: their answers must not be optimised away. */
static const char *volatile answer;

static void error_string(const struct data_calls *lib, unsigned n, const void *with)
{
    for (unsigned i = 0; i < n; i++)
        answer = lib->PMIx_Error_string(-(int)(i % 300));
}

static void type_string(const struct data_calls *lib, unsigned n, const void *with)
{
    for (unsigned i = 0; i < n; i++)
        answer = lib->PMIx_Data_type_string((pmix_data_type_t)(1 + i % 40));
}

static void state_string(const struct data_calls *lib, unsigned n, const void *with)
{
    for (unsigned i = 0; i < n; i++)
        answer = lib->PMIx_Proc_state_string((pmix_proc_state_t)(i % 64));
}

static const char *const names[] = { "PMIX_ADD_HOST", "PMIX_TIMEOUT", "PMIX_LOCAL_RANK",
                                     "PMIX_WDIR" };
static const char *const texts[] = { PMIX_ADD_HOST, PMIX_TIMEOUT, PMIX_LOCAL_RANK, PMIX_WDIR };

static void attribute_string(const struct data_calls *lib, unsigned n, const void *with)
{
    for (unsigned i = 0; i < n; i++)
        answer = lib->PMIx_Get_attribute_string(names[i % 4]);
}

static void attribute_name(const struct data_calls *lib, unsigned n, const void *with)
{
    for (unsigned i = 0; i < n; i++)
        answer = lib->PMIx_Get_attribute_name(texts[i % 4]);
}

const struct data_case value_cases[] = {
#define LOAD(name, type, address)    { "load_" #name, load_##name, NULL },
#define COPY(name, type, address)    { "copy_" #name, copy_##name, NULL },
#define COMPARE(name, type, address) { "compare_" #name, compare_##name, NULL },
    KINDS(LOAD) KINDS(COPY) KINDS(COMPARE){ "unload_int", unload_int, NULL },
    { "unload_text", unload_text, NULL },
    { "info_load", info_load, NULL },
    { "info_xfer", info_xfer, NULL },
    { "info_list_of_20", info_list, NULL },
    { "error_string", error_string, NULL },
    { "type_string", type_string, NULL },
    { "state_string", state_string, NULL },
    { "attribute_string", attribute_string, NULL },
    { "attribute_name", attribute_name, NULL },
    { NULL, NULL, NULL },
};
