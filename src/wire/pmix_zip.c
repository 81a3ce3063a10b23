/* pmix_zip.c - see pmix_zip.h.  zlib is opened when it is needed (base/dynlib.h) and closed again:
 * few processes ever get compressed bytes. */
#include "wire/pmix_zip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/dynlib.h"

DYNLIB_NOTE(SONAME_ZLIB, "zlib", "Compressed values of other PMIx libraries");

enum {
    HEAD = 4,
    EXPANDS_MOST = 1032,    /* zlib's own bound: a bit pair for 258 bytes */
    TRUSTED = 16,           /* the expansion of a stream for which memory is taken at once */
    FIRST_STEP = 64 * 1024, /* memory for a stream that claims more */
};

struct zlib {
    void *library;
    int (*compress2)(Bytef *dest, uLongf *dest_len, const Bytef *source, uLong source_len, int how);
    int (*inflate_init)(z_streamp z, const char *version, int size);
    int (*inflate)(z_streamp z, int flush);
    int (*inflate_end)(z_streamp z);
};

static const struct dynlib_function functions[] = {
    { "compress2", offsetof(struct zlib, compress2) },
    { "inflateInit_", offsetof(struct zlib, inflate_init) },
    { "inflate", offsetof(struct zlib, inflate) },
    { "inflateEnd", offsetof(struct zlib, inflate_end) },
};

static bool zlib_open(struct zlib *l)
{
    return dynlib_open(SONAME_ZLIB, functions, sizeof functions / sizeof *functions, l, &l->library,
                       NULL) == 0;
}

int pzip_pack(struct slice bytes, char **out_p, size_t *len_p)
{
    uint32_t declared = (uint32_t)bytes.len;
    struct zlib l;
    uLongf n;
    char *out;
    int rc;

    if (bytes.len > UINT32_MAX || bytes.len <= HEAD || !zlib_open(&l))
        return PZIP_NOT_SMALLER;
    n = bytes.len - HEAD; /* no room for more than would be worth it */
    out = malloc(bytes.len);
    if (!out) {
        dynlib_close(&l.library);
        return -ENOMEM;
    }
    memcpy(out, &declared, HEAD);
    rc = l.compress2((Bytef *)out + HEAD, &n, (const Bytef *)bytes.ptr, bytes.len,
                     Z_DEFAULT_COMPRESSION);
    dynlib_close(&l.library);
    if (rc != Z_OK || n + HEAD >= bytes.len) {
        free(out);
        return rc == Z_MEM_ERROR ? -ENOMEM : PZIP_NOT_SMALLER;
    }
    *out_p = out;
    *len_p = n + HEAD;
    return 0;
}

/* Inflates into *out_p, which grows up to `declared` bytes and a NUL. */
static int inflate_all(const struct zlib *l, z_stream *z, size_t declared, size_t cap, char **out_p)
{
    char *out = NULL;
    int rc = Z_OK;

    for (;;) {
        size_t have = z->total_out;
        char *more = realloc(out, cap + 1);
        if (!more) {
            free(out);
            return -ENOMEM;
        }
        out = more;
        z->next_out = (Bytef *)out + have;
        z->avail_out = (uInt)(cap - have);
        rc = l->inflate(z, Z_NO_FLUSH);
        if (rc != Z_OK || z->avail_out || cap == declared)
            break;
        cap = cap > declared / 2 ? declared : cap * 2;
    }
    if (rc == Z_OK &&
        z->total_out == declared) { /* all bytes are there, only the end of the stream is missing */
        Bytef surplus;
        z->next_out = &surplus;
        z->avail_out = 1;
        rc = l->inflate(z, Z_FINISH);
    }
    if (rc == Z_STREAM_END && z->total_out == declared) {
        out[declared] = '\0';
        *out_p = out;
        return 0;
    }
    free(out);
    return rc == Z_MEM_ERROR ? -ENOMEM : PZIP_MALFORMED;
}

int pzip_unpack(struct slice packed, size_t most, char **out_p, size_t *len_p)
{
    struct slice stream = slice_skip(packed, HEAD);
    z_stream z = { .next_in = (Bytef *)(uintptr_t)stream.ptr, .avail_in = (uInt)stream.len };
    struct zlib l;
    size_t cap;
    uint32_t declared;
    int rc = -ENOMEM;

    if (packed.len <= HEAD || stream.len > UINT32_MAX)
        return PZIP_MALFORMED;
    memcpy(&declared, packed.ptr, HEAD);
    if (declared / EXPANDS_MOST > stream.len)
        return PZIP_MALFORMED;
    if (declared > most)
        return PZIP_TOO_LONG;
    if (!zlib_open(&l))
        return PZIP_NO_ZLIB;
    cap = declared / TRUSTED > stream.len && declared > FIRST_STEP ? FIRST_STEP : declared;
    if (l.inflate_init(&z, ZLIB_VERSION, (int)sizeof z) == Z_OK) {
        rc = inflate_all(&l, &z, declared, cap, out_p);
        l.inflate_end(&z);
    }
    dynlib_close(&l.library);
    if (rc == 0)
        *len_p = declared;
    return rc;
}
