/* data_buffer.c - whole buffers: loading and unloading bytes, and adding one to another. */
#include "lib/pmix/values/data.h"
#include "wire/pmix_mem.h"

/* The bytes are moved, and the payload is left empty.  Without one the buffer becomes empty. */
pmix_status_t PMIx_Data_load(pmix_data_buffer_t *buffer, pmix_byte_object_t *payload)
{
    if (buffer == NULL)
        return PMIX_ERR_BAD_PARAM;
    if (payload == NULL) {
        PMIx_Data_buffer_destruct(buffer);
        return PMIX_SUCCESS;
    }
    PMIx_Data_buffer_load(buffer, payload->bytes, payload->size);
    *payload = (pmix_byte_object_t){ 0 };
    return PMIX_SUCCESS;
}

/* The bytes not yet unpacked are moved, and the buffer is left empty. */
pmix_status_t PMIx_Data_unload(pmix_data_buffer_t *buffer, pmix_byte_object_t *payload)
{
    if (buffer == NULL || payload == NULL)
        return PMIX_ERR_BAD_PARAM;
    PMIx_Data_buffer_unload(buffer, &payload->bytes, &payload->size);
    return PMIX_SUCCESS;
}

static pmix_status_t append(pmix_data_buffer_t *buffer, struct slice bytes)
{
    struct buf out;

    data_buffer_borrow(buffer, &out);
    buf_slice_put(&out, bytes);
    if (!buf_ok(&out))
        return PMIX_ERR_NOMEM;
    data_buffer_store(buffer, &out);
    return PMIX_SUCCESS;
}

/* A copy of the payload replaces the buffer's contents; the payload stays the caller's. */
pmix_status_t PMIx_Data_embed(pmix_data_buffer_t *buffer, const pmix_byte_object_t *payload)
{
    pmix_data_buffer_t fresh = { 0 };
    pmix_status_t rc = PMIX_SUCCESS;

    if (buffer == NULL || (payload != NULL && payload->bytes == NULL && payload->size > 0))
        return PMIX_ERR_BAD_PARAM;
    if (payload != NULL && payload->size > 0)
        rc = append(&fresh, slice_mem(payload->bytes, payload->size));
    if (rc != PMIX_SUCCESS)
        return rc;
    PMIx_Data_buffer_destruct(buffer);
    *buffer = fresh;
    return PMIX_SUCCESS;
}

/* The bytes of src not yet unpacked are appended to dest; src stays as it is. */
pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t *dest, pmix_data_buffer_t *src)
{
    struct slice rest;

    if (dest == NULL || src == NULL)
        return PMIX_ERR_BAD_PARAM;
    rest = data_buffer_rest(src);
    if (rest.len == 0)
        return PMIX_SUCCESS;
    if (dest == src) /* the bytes move while they are copied */
        return PMIX_ERR_BAD_PARAM;
    return append(dest, rest);
}
