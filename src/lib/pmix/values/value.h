/* value.h - values and the structures that hold them, for the library's own files.
 *
 * Deep copies are done by the descriptors of wire/pmix_types.h (pmix_mem); the functions here are
 * short cuts for the common cases: numbers, strings, bytes, processes.
 */
#ifndef WIREUP_LIB_PMIX_VALUES_VALUE_H
#define WIREUP_LIB_PMIX_VALUES_VALUE_H

#include "pmix.h"
#include "topo/pmix_topo.h"
#include "wire/pmix_mem.h"

/* How a value holds a type, from proto/pmix_types.def. */
enum shape {
    SHAPE_NONE,
    SHAPE_FLAT,
    SHAPE_STRING,
    SHAPE_BYTES,
    SHAPE_REGEX,
    SHAPE_ENVAR,
    SHAPE_HEAP,
    SHAPE_POINTER,
};

/* By number: the shape, and the size of types whose bits are the data (0: the others). */
struct value_form {
    uint8_t shape, size;
};
extern const struct value_form value_forms[PTYPE_NUMBERS];

/* The shape of a type; NONE for unknown types. */
static inline enum shape value_shape(pmix_data_type_t type)
{
    return type < PTYPE_NUMBERS ? (enum shape)value_forms[type].shape : SHAPE_NONE;
}

/* Releases the memory of a value.  The value itself is left as it was: overwrite or free it. */
void value_release(pmix_value_t *v);

/* A deep copy of src into uninitialised memory.  On an error dest is empty (UNDEF). PMIX_ERROR:
 * a type that values cannot hold; PMIX_ERR_NOMEM. */
pmix_status_t value_copy(pmix_value_t *dest, const pmix_value_t *src);

/* A copy of n infos, all or none: PMIx_Info_free() releases it (NULL if n is 0).  Errors as above.
 */
pmix_status_t infos_copy(const pmix_info_t *infos, size_t n, pmix_info_t **copy_p);

/* Releases the memory that n infos own; those marked persistent own none. */
void infos_release(pmix_info_t *infos, size_t n);

/* The functions that copy and release cpusets and topologies. */
static inline const struct ptype_foreign *foreign_objects(void)
{
    return &ptopo_foreign;
}

#endif
