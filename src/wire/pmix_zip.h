/* pmix_zip.h - compressed bytes in PMIx's format: 32 bits of the uncompressed length, in the host's
 * byte order, then a zlib stream.
 *
 * Unpacking trusts nothing: the length given must be possible for a stream of this size (zlib
 * expands at most 1032 times), memory grows only as bytes come out, and they must be exactly as
 * many as given.
 */
#ifndef WIREUP_WIRE_PMIX_ZIP_H
#define WIREUP_WIRE_PMIX_ZIP_H

#include "base/slice.h"

enum {
    PZIP_NOT_SMALLER =
        1,          /* it would not shrink, is too long for its length field, or there is no zlib */
    PZIP_MALFORMED, /* not such a stream, or of another length than given */
    PZIP_TOO_LONG,  /* longer than the caller takes */
    PZIP_NO_ZLIB,   /* zlib is not on this machine */
};

/* 0 with malloc'ed bytes, PZIP_NOT_SMALLER, -ENOMEM. */
int pzip_pack(struct slice bytes, char **out_p, size_t *len_p);

/* 0 with malloc'ed bytes followed by a NUL, PZIP_MALFORMED, PZIP_TOO_LONG, PZIP_NO_ZLIB, -ENOMEM.
 */
int pzip_unpack(struct slice packed, size_t most, char **out_p, size_t *len_p);

#endif
