/* pmix_unpack.h - reading PMIx data, any type in any encoding, from untrusted bytes.
 *
 * A reader walks over borrowed bytes and poisons: after the first bad one nothing more is read,
 * outputs stay empty, and punpack_ok() after a series of calls is enough.  A call that fails leaves
 * the reader at its former position, and releases the memory that it had taken.
 *
 * Memory: a list's count is believed only as far as the remaining bytes could hold that many items,
 * and beyond LIMIT_PMIX_TRUST memory grows only as items arrive.  So the memory that one message
 * can take is bounded by its length, times the size of the struct over its fewest bytes.  Items
 * that take no bytes each (pointers: one byte stands for an array of them) or memory by the number
 * in them (cpusets) are limited in number, per reader.
 *
 * Items are malloc'ed as their public macros free them (pmem_free does it for any type).
 */
#ifndef WIREUP_WIRE_PMIX_UNPACK_H
#define WIREUP_WIRE_PMIX_UNPACK_H

#include "wire/pmix_types.h"

struct punpack {
    const uint8_t *at, *end;
    const struct ptype_flavour *as;
    const struct ptype_foreign *foreign; /* may be NULL: no cpusets, no topologies */
    bool described;
    uint16_t depth;
    uint32_t unpaid; /* of LIMIT_PMIX_TRUST: taken for items that cost the sender next to nothing */
    enum ptype_error error;
};

static inline void punpack_init(struct punpack *r, struct slice bytes,
                                const struct ptype_flavour *as)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr;

    *r = (struct punpack){ .at = at, .end = bytes.len ? at + bytes.len : at, .as = as };
}

static inline bool punpack_ok(const struct punpack *r)
{
    return r->error == PTYPE_FINE;
}

static inline size_t punpack_left(const struct punpack *r)
{
    return (size_t)(r->end - r->at);
}

/* Reads one unit of n items of a data type into dst, an array with room for *n_p items whose former
 * content is overwritten; *n_p becomes n, or 0 with an error.
 * Returns r->error: CUT, MALFORMED, UNKNOWN, MISMATCH, NO_ROOM, TOO_DEEP, TOO_LONG, NOT_SUPPORTED,
 * NO_MEMORY, BAD_PARAM (a negative *n_p). */
enum ptype_error punpack(struct punpack *r, void *dst, int32_t *n_p, uint16_t type);

/* The same from the part of a public buffer that has not been unpacked yet, whose pointers are
 * updated. */
enum ptype_error punpack_public(pmix_data_buffer_t *b, const struct ptype_flavour *as,
                                const struct ptype_foreign *foreign, void *dst, int32_t *n_p,
                                uint16_t type);

/* How many items the next unit has, and of which type when that is described (else UNDEF), without
 * moving.  -1: there is no unit. */
int32_t punpack_peek(const struct punpack *r, uint16_t *type_p);

/* Units of exactly one item, for the parts of messages. */
uint8_t punpack_byte(struct punpack *r, uint16_t type); /* COMMAND, SCOPE, BOOL … */
pmix_status_t punpack_status(struct punpack *r);
size_t punpack_size(struct punpack *r);
uint32_t punpack_u32(struct punpack *r, uint16_t type); /* UINT32, PROC_RANK */
char *punpack_str(struct punpack *r);                   /* malloc'ed, or NULL (a valid string) */
struct slice punpack_bytes(struct punpack *r);          /* BYTE_OBJECT; lends from the input */

/* STRING without a copy: lends from the input, without its NUL; a NULL text has ptr NULL. */
struct slice punpack_text(struct punpack *r);

/* One unit of n items in new memory, with n as a SIZE unit before it ("SIZE n, n items" of the
 * commands; the second unit is absent when n is 0).  NULL and 0 when there are none, or in error.
 */
void *punpack_list(struct punpack *r, uint16_t type, size_t *n_p);

/* KVAL: a key (lent from the input) with its value (to be released by pmem_free). */
struct slice punpack_kval(struct punpack *r, pmix_value_t *value_p);

/* KVAL without decoding its value: the value's type, and the bytes that follow it, which
 * punpack_value reads (with the same encoding). A key that is NULL is MALFORMED. */
struct slice punpack_kval_raw(struct punpack *r, uint16_t *type_p, struct slice *value_p);

/* The number at the front of the bytes of a BYTE_OBJECT: how many follow. */
size_t punpack_size_bare(struct punpack *r);

/* A value of this type in all the remaining bytes; released by pmem_free.  MALFORMED: there are
 * more. */
enum ptype_error punpack_value(struct punpack *r, uint16_t type, pmix_value_t *value_p);

/* An array of infos in such bytes, of a value of type DATA_ARRAY: its head, then one call each.
 * MISMATCH: it is an array of another type. */
size_t punpack_infos_head(struct punpack *r);
struct slice punpack_info_raw(struct punpack *r, uint16_t *type_p, struct slice *value_p);

/* BUFFER: lends its bytes; *described_p tells their form. */
struct slice punpack_buffer(struct punpack *r, bool *described_p);

#endif
