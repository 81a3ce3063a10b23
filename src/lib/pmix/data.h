/* data.h - what the files behind PMIx_Data_* share. */
#ifndef WIREUP_LIB_PMIX_DATA_H
#define WIREUP_LIB_PMIX_DATA_H

#include "base/buf.h"
#include "pmix.h"
#include "wire/pmix_types.h"

/* The encoding that a process reads; NULL is oneself.  As long as the library has no connection,
 * everybody is. */
const struct ptype_flavour *data_flavour(const pmix_proc_t *peer);

/* A public buffer as the codec's, to append to; what it points to must be stored back.
 * (Filled in place, member by member: copies of whole structures that have just been written are
 * what a processor waits for.) */
void data_buffer_borrow(const pmix_data_buffer_t *b, struct buf *out_p);
void data_buffer_store(pmix_data_buffer_t *b, const struct buf *out);

/* What has not been unpacked yet. */
struct slice data_buffer_rest(const pmix_data_buffer_t *b);

#endif
