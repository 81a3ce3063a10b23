/* pmix_mem.h - PMIx items in memory: copying, releasing and comparing any type by its descriptor.
 *
 * "foreign" handles cpusets and topologies (see pmix_types.h); with NULL they cannot be copied, and
 * only their texts are released.  An info marked persistent does not own its value: that is neither
 * released nor copied, but shared.
 */
#ifndef WIREUP_WIRE_PMIX_MEM_H
#define WIREUP_WIRE_PMIX_MEM_H

#include "wire/pmix_types.h"

/* Releases the memory that n items own, and zeroes them; not the array itself.  NULL is harmless.
 * Strings and regexes: items are char *. */
void pmem_free(const struct ptype *t, void *items, size_t n, const struct ptype_foreign *foreign);

/* The same without zeroing, for items whose memory is freed next. */
void pmem_release(const struct ptype *t, void *items, size_t n,
                  const struct ptype_foreign *foreign);

/* Deep copies of n items into uninitialised memory; on an error only zeroes are left there.
 * BAD_PARAM, UNKNOWN, NOT_SUPPORTED, NO_MEMORY, TOO_DEEP. */
enum ptype_error pmem_copy(const struct ptype *t, void *to, const void *from, size_t n,
                           const struct ptype_foreign *foreign);

/* Whether two items are equal.  Fields that are not sent (exit codes, addresses) are compared too.
 */
bool pmem_equal(const struct ptype *t, const void *a, const void *b,
                const struct ptype_foreign *foreign);

/* The same three for values and arrays, which all other types are made of. */
void pmem_value_free(pmix_value_t *v, const struct ptype_foreign *foreign);
void pmem_array_free(pmix_data_array_t *a, const struct ptype_foreign *foreign);

#endif
