/* data_pack.c - PMIx_Data_pack and PMIx_Data_unpack: the codec on the public buffer.
 *
 * A call that fails leaves the buffer as it was, so that it can be repeated with another type or
 * with more room; nothing half-packed or half-unpacked is kept.
 */
#include "lib/pmix/values/data.h"
#include "lib/pmix/values/value.h"
#include "wire/pmix_pack.h"
#include "wire/pmix_unpack.h"

/* The encoding that peer's process reads; NULL is this process.  Without a connection every peer
 * is taken as this process. */
static const struct ptype_flavour *data_flavour(const pmix_proc_t *peer)
{
    (void)peer;
    return &ptype_own;
}

void data_buffer_borrow(const pmix_data_buffer_t *b, struct buf *out_p)
{
    bool there = b->base_ptr != NULL;

    *out_p = BUF_NULL(SIZE_MAX / 2);
    out_p->mem = b->base_ptr;
    out_p->end = there ? b->bytes_used : 0;
    out_p->cap = there ? b->bytes_allocated : 0;
}

/* The number of bytes unpacked already. */
static size_t nread(const pmix_data_buffer_t *b)
{
    return b->base_ptr && b->unpack_ptr ? (size_t)(b->unpack_ptr - b->base_ptr) : 0;
}

void data_buffer_store(pmix_data_buffer_t *b, const struct buf *out)
{
    size_t read = nread(b);

    b->base_ptr = out->mem;
    b->pack_ptr = out->mem + out->end;
    b->unpack_ptr = out->mem + read;
    b->bytes_allocated = out->cap;
    b->bytes_used = out->end;
}

struct slice data_buffer_rest(const pmix_data_buffer_t *b)
{
    if (b->base_ptr == NULL)
        return SLICE_NULL;
    return slice_skip(slice_mem(b->base_ptr, b->bytes_used), nread(b));
}

pmix_status_t PMIx_Data_pack(const pmix_proc_t *target, pmix_data_buffer_t *buffer, void *src,
                             int32_t num_vals, pmix_data_type_t type)
{
    if (buffer == NULL)
        return PMIX_ERR_BAD_PARAM;
    return ptype_status(
        ppack_public(buffer, data_flavour(target), foreign_objects(), src, num_vals, type),
        PTYPE_PACKING);
}

/* With less room than there are values, those that fit are unpacked, the status is
 * PMIX_ERR_UNPACK_INADEQUATE_SPACE, and the buffer's position stays before them. */
pmix_status_t PMIx_Data_unpack(const pmix_proc_t *source, pmix_data_buffer_t *buffer, void *dest,
                               int32_t *max_num_values, pmix_data_type_t type)
{
    if (buffer == NULL || dest == NULL || max_num_values == NULL)
        return PMIX_ERR_BAD_PARAM;
    return ptype_status(
        punpack_public(buffer, data_flavour(source), foreign_objects(), dest, max_num_values, type),
        PTYPE_UNPACKING);
}
