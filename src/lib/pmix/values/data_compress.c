/* data_compress.c - PMIx_Data_compress and PMIx_Data_decompress. */
#include "pmix.h"
#include "wire/pmix_zip.h"

/* Smaller data is not worth the time: the limit of OpenPMIx. */
enum { WORTH_IT = 4096 };

/* False when it would not become smaller; the caller then keeps the bytes as they are. */
bool PMIx_Data_compress(const uint8_t *inbytes, size_t size, uint8_t **outbytes, size_t *nbytes)
{
    char *out;

    if (outbytes == NULL || nbytes == NULL)
        return false;
    *outbytes = NULL;
    *nbytes = 0;
    if (inbytes == NULL || size < WORTH_IT)
        return false;
    if (pzip_pack(slice_mem(inbytes, size), &out, nbytes) != 0)
        return false;
    *outbytes = (uint8_t *)out;
    return true;
}

/* False for bytes that PMIx_Data_compress did not make. */
bool PMIx_Data_decompress(const uint8_t *inbytes, size_t size, uint8_t **outbytes, size_t *nbytes)
{
    char *out;

    if (outbytes == NULL || nbytes == NULL)
        return false;
    *outbytes = NULL;
    *nbytes = 0;
    if (inbytes == NULL || pzip_unpack(slice_mem(inbytes, size), UINT32_MAX, &out, nbytes) != 0)
        return false;
    *outbytes = (uint8_t *)out;
    return true;
}
