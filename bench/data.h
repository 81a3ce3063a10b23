/* data.h - a benchmark of libpmix's functions on data, one library beside another.
 *
 * Every case is a function that does one thing n times through a table of the library's functions;
 * data.c runs it in turn with either library's table.
 */
#ifndef WIREUP_BENCH_DATA_H
#define WIREUP_BENCH_DATA_H

#include <pmix_server.h>
#include <pmix.h>

/* What the cases call; all of them are in every library since 4.2.2. */
#define DATA_CALLS(CALL)                                                                           \
    CALL(PMIx_Value_load)                                                                          \
    CALL(PMIx_Value_unload)                                                                        \
    CALL(PMIx_Value_xfer)                                                                          \
    CALL(PMIx_Value_compare)                                                                       \
    CALL(PMIx_Value_destruct)                                                                      \
    CALL(PMIx_Info_load)                                                                           \
    CALL(PMIx_Info_xfer)                                                                           \
    CALL(PMIx_Info_list_start)                                                                     \
    CALL(PMIx_Info_list_add)                                                                       \
    CALL(PMIx_Info_list_convert)                                                                   \
    CALL(PMIx_Info_list_release)                                                                   \
    CALL(PMIx_Data_array_destruct)                                                                 \
    CALL(PMIx_Error_string)                                                                        \
    CALL(PMIx_Data_type_string)                                                                    \
    CALL(PMIx_Proc_state_string)                                                                   \
    CALL(PMIx_Get_attribute_string)                                                                \
    CALL(PMIx_Get_attribute_name)                                                                  \
    CALL(PMIx_Data_pack)                                                                           \
    CALL(PMIx_Data_unpack)                                                                         \
    CALL(PMIx_Data_copy)                                                                           \
    CALL(PMIx_server_init)                                                                         \
    CALL(PMIx_server_finalize)

struct data_calls {
#define CALL(name) __typeof__(&name) name;
    DATA_CALLS(CALL)
#undef CALL
};

struct data_case {
    const char *name;
    void (*run)(const struct data_calls *lib, unsigned n, const void *with);
    const void *with;
};

/* Ended by a NULL name. */
extern const struct data_case value_cases[], pack_cases[];

#endif
