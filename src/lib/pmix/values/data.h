/* data.h - shared by the files that implement PMIx_Data_*. */
#ifndef WIREUP_LIB_PMIX_VALUES_DATA_H
#define WIREUP_LIB_PMIX_VALUES_DATA_H

#include "base/buf.h"
#include "pmix.h"
#include "wire/pmix_types.h"

/* A public buffer as the codec's, to append to; the result must be stored back.  (Filled in
 * place, not returned: a processor stalls on copies of whole structures that have just been
 * written.) */
void data_buffer_borrow(const pmix_data_buffer_t *b, struct buf *out_p);
void data_buffer_store(pmix_data_buffer_t *b, const struct buf *out);

/* The bytes that have not been unpacked yet. */
struct slice data_buffer_rest(const pmix_data_buffer_t *b);

#endif
