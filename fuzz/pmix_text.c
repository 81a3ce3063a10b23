/* pmix_text.c - fuzzes what makes text of PMIx data and what reads such texts.
 *
 * Input: which of them, then the bytes: any item, unpacked and printed; or a text for the readers
 * of cpusets, localities, names and truth values.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/values/value.h"
#include "pmix_server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const uint8_t *data, size_t size)
{
    const struct ptype *t = size ? ptype_find(data[0]) : NULL;
    pmix_data_buffer_t b = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_byte_object_t bytes = { (char *)(uintptr_t)data + 1, size - 1 };
    int32_t n = 1;
    char *text = NULL;
    void *item;

    if (!t || t->number == PMIX_TOPO) /* hwloc reads those */
        return;
    item = calloc(1, t->size);
    if (PMIx_Data_embed(&b, &bytes) == PMIX_SUCCESS && item &&
        PMIx_Data_unpack(NULL, &b, item, &n, t->number) == PMIX_SUCCESS && n == 1) {
        bool is_text = t->number == PMIX_STRING || t->number == PMIX_REGEX;
        char **words = item;
        void *src = is_text ? *words : item;
        pmix_status_t rc = PMIx_Data_print(&text, NULL, src, t->number);
        if (src && (rc != PMIX_SUCCESS || strlen(text) == 0))
            abort();
        free(text);
        if (t->number == PMIX_VALUE) {
            pmix_value_t *value = item;
            size_t size_of;
            (void)PMIx_Value_get_size(value, &size_of);
            (void)PMIx_Value_true(value);
            if (PMIx_Value_compare(value, value) == PMIX_VALUE_TYPE_DIFFERENT)
                abort();
        }
    }
    pmem_free(t, item, (size_t)n, foreign_objects());
    free(item);
    PMIx_Data_buffer_destruct(&b);
}

static void read_text(const uint8_t *data, size_t size)
{
    char *text = calloc(1, size + 1), *half;
    pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT;
    pmix_locality_t shared;
    pmix_value_t value;

    if (!text)
        return;
    if (size)
        memcpy(text, data, size);
    half = text + strlen(text) / 2;
    (void)PMIx_Get_relative_locality(text, half, &shared);
    (void)PMIx_Error_code(text);
    (void)PMIx_Get_attribute_name(text);
    (void)PMIx_Get_attribute_string(text);
    if (PMIx_Value_load(&value, text, PMIX_STRING) == PMIX_SUCCESS) {
        (void)PMIx_Value_true(&value);
        PMIx_Value_destruct(&value);
    }
    if (PMIx_Parse_cpuset_string(text, &set) == PMIX_SUCCESS) {
        char *again = NULL;
        if (PMIx_server_generate_cpuset_string(&set, &again) != PMIX_SUCCESS)
            abort();
        free(again);
        PMIx_Cpuset_destruct(&set);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 && data[0] % 2)
        print(data + 1, size - 1);
    else if (size > 1)
        read_text(data + 1, size - 1);
    return 0;
}
