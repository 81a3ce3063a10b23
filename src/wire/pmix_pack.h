/* pmix_pack.h - writing PMIx data, any type in any encoding, from the descriptors.
 *
 * A writer appends to a struct buf and poisons: after the first error nothing more is written, and
 * ppack_ok() after a series of calls is enough.  A call that fails leaves the buffer as it was
 * before it.
 *
 * One call is one unit of the wire: a count, then that many items (with their type in described
 * buffers).  Fields inside items carry neither.
 */
#ifndef WIREUP_WIRE_PMIX_PACK_H
#define WIREUP_WIRE_PMIX_PACK_H

#include "base/buf.h"
#include "wire/pmix_types.h"

struct ppack {
    struct buf *out;            /* NULL: to a public buffer */
    pmix_data_buffer_t *public; /* which is this */
    const struct ptype_flavour *as;
    const struct ptype_foreign *foreign; /* may be NULL: no cpusets, no topologies */
    uint8_t *limit;                      /* while a unit is written: the end of its memory */
    bool described;
    uint16_t depth;
    enum ptype_error error;
};

static inline void ppack_init(struct ppack *w, struct buf *out, const struct ptype_flavour *as)
{
    *w = (struct ppack){ .out = out, .as = as };
}

static inline bool ppack_ok(const struct ppack *w)
{
    return w->error == PTYPE_FINE;
}

/* Appends n items of a data type; src points to the first, as in PMIx_Data_pack (a char ** for
 * STRING and REGEX). n may be 0. Returns w->error: UNKNOWN, BAD_PARAM, TOO_DEEP, TOO_LONG,
 * NOT_SUPPORTED, NO_MEMORY. */
enum ptype_error ppack(struct ppack *w, const void *src, int32_t n, uint16_t type);

/* The same to a public buffer: its pointers are updated, and its unpacked part stays unpacked.
 */
enum ptype_error ppack_public(pmix_data_buffer_t *b, const struct ptype_flavour *as,
                              const struct ptype_foreign *foreign, const void *src, int32_t n,
                              uint16_t type);

/* The same as ppack, short, for the parts of messages. */
void ppack_byte(struct ppack *w, uint16_t type, uint8_t v); /* COMMAND, SCOPE, BOOL … */
void ppack_status(struct ppack *w, pmix_status_t v);
void ppack_size(struct ppack *w, size_t v);
void ppack_u32(struct ppack *w, uint16_t type, uint32_t v); /* UINT32, PROC_RANK */
void ppack_str(struct ppack *w, const char *text);          /* NULL is a valid string */
void ppack_text(struct ppack *w, struct slice text);        /* STRING; ptr NULL: NULL */
void ppack_bytes(struct ppack *w, struct slice bytes);      /* BYTE_OBJECT */

/* KVAL: a key with its value. */
void ppack_kval(struct ppack *w, const char *key, const pmix_value_t *value);

/* BUFFER: bytes that are themselves a packed buffer. */
void ppack_buffer(struct ppack *w, bool described, struct slice bytes);

#endif
