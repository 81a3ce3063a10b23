/* pmix_types.h - the data types of PMIx as descriptors.
 *
 * One row of proto/pmix_types.def (C type), proto/pmix_structs.def (fields) and proto/pmix_wire.def
 * (encoding) becomes one struct ptype.  Packing, unpacking, copying, releasing and comparing are
 * one interpreter each over these descriptors (pmix_pack, pmix_unpack, pmix_mem); no other code
 * knows a type by name, except recursive ones (values, arrays) and hwloc's objects.
 *
 * An encoding ("flavour") is two columns: fixed or variable width, and the types it has.
 */
#ifndef WIREUP_WIRE_PMIX_TYPES_H
#define WIREUP_WIRE_PMIX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "pmix_common.h"

/* Errors of the codec.  ptype_status() gives the PMIx status. */
enum ptype_error {
    PTYPE_FINE = 0,
    PTYPE_CUT,           /* the bytes end before the item does */
    PTYPE_MALFORMED,     /* bytes that no sender writes */
    PTYPE_UNKNOWN,       /* a data type that this encoding does not have */
    PTYPE_MISMATCH,      /* described bytes hold another type than the one asked for */
    PTYPE_NO_ROOM,       /* more items than the caller has room for */
    PTYPE_TOO_DEEP,      /* values nested beyond LIMIT_PMIX_DEPTH */
    PTYPE_TOO_LONG,      /* does not fit its count, its field or the buffer's maximum */
    PTYPE_BAD_PARAM,     /* the caller's item is not one: a pointer missing, a negative count */
    PTYPE_NOT_SUPPORTED, /* needs hwloc, which is not there */
    PTYPE_NO_MEMORY,
};

/* PMIx's status for an error met while packing, unpacking or copying. */
enum ptype_task { PTYPE_PACKING, PTYPE_UNPACKING, PTYPE_COPYING };
pmix_status_t ptype_status_of(enum ptype_error error, enum ptype_task task);

static inline pmix_status_t ptype_status(enum ptype_error error, enum ptype_task task)
{
    return error == PTYPE_FINE ? PMIX_SUCCESS : ptype_status_of(error, task);
}

/* The encoding of one item.
 *   OP(name, least bytes when fixed, least bytes when variable, its bits are all of it) */
#define PTYPE_OPS(OP)                                                                              \
    OP(NONE, 0, 0, true) /* not sent; not followed */                                              \
    OP(BYTE, 1, 1, true) /* as it is */                                                            \
    OP(BOOL, 1, 1, true) /* 0 or 1; anything but 0 reads as true */                                \
    OP(I16, 2, 1, true)  /* signed ones are zigzagged when variable */                             \
    OP(U16, 2, 1, true)                                                                            \
    OP(I32, 4, 1, true)                                                                            \
    OP(U32, 4, 1, true)                                                                            \
    OP(I64, 8, 1, true)                                                                            \
    OP(U64, 8, 1, true)                                                                            \
    OP(INT, 1, 1, true)      /* int; when fixed, a type precedes the first of a run */             \
    OP(SIZE, 1, 1, true)     /* size_t; likewise */                                                \
    OP(FLAGS, 4, 1, true)    /* info directives: a U32 without the bits that are never sent */     \
    OP(PID, 1, 1, true)      /* pid_t; preceded by a type in every encoding */                     \
    OP(TIMEVAL, 16, 2, true) /* two I64 */                                                         \
    OP(PTR, 1, 1, true)      /* one byte 1 for a whole run: an address is meaningless elsewhere */ \
    OP(FLT, 4, 1, true)      /* as text, six decimals */                                           \
    OP(DBL, 4, 1, true)                                                                            \
    OP(STR, 4, 1, false)    /* INT32 length with the NUL, the bytes; 0: NULL */                    \
    OP(TEXT, 4, 1, true)    /* the same from an array in place, NUL-padded */                      \
    OP(ARGV, 4, 1, false)   /* INT32 count, STRs; a NULL-ended char ** */                          \
    OP(ARGC, 3, 1, false)   /* the same, counted by an INT */                                      \
    OP(LIST, 3, 1, false)   /* SIZE count, items of elem; pointer and count are members */         \
    OP(NEST, 0, 0, false)   /* an item of elem, in place */                                        \
    OP(VALUE, 2, 1, false)  /* UINT16 type, one item of it; a pmix_value_t */                      \
    OP(ARRAY, 2, 1, false)  /* UINT16 type, SIZE count, items; a pmix_data_array_t */              \
    OP(REGEX, 1, 1, false)  /* a char * that contains its own length (ptype_regex_len) */          \
    OP(CPUSET, 4, 1, false) /* STR: hwloc's list form */                                           \
    OP(TOPO, 4, 1, false)   /* STR: hwloc's XML, then its support flags, raw */                    \
    OP(DBUF, 3, 1, false)   /* SIZE n, n bytes; a pmix_data_buffer_t */

enum ptype_op {
#define OP(name, fixed, variable, flat) PTYPE_##name,
    PTYPE_OPS(OP)
#undef OP
        PTYPE_OP_COUNT
};

/* Encoded as a number, or two. */
#define PTYPE_IS_NUMBER(op) ((op) >= PTYPE_BYTE && (op) <= PTYPE_PTR)

/* A persistent info does not own its value: the flag is about the sender's memory; sent, it would
 * make receivers leak. */
#define PTYPE_FLAGS_SENT (~(uint32_t)PMIX_INFO_PERSISTENT)

struct ptype_field {
    uint8_t op;
    bool local;       /* copied and released, never sent */
    uint16_t elem;    /* LIST, NEST: data type of the items */
    uint16_t offset;  /* in the struct */
    uint16_t count;   /* LIST: offset of the size_t that counts */
    uint16_t size;    /* TEXT: of the array; flat ones: of the member */
    const char *name; /* of the member; NULL: it is the item itself */
};

enum ptype_place { PTYPE_NOWHERE = 0, PTYPE_INLINE, PTYPE_POINTER };

enum ptype_level { PTYPE_V21, PTYPE_V3, PTYPE_V4, PTYPE_V41, PTYPE_V51, PTYPE_V61, PTYPE_OWN };

struct ptype {
    const char *name; /* "UINT32" */
    const struct ptype_field *fields;
    uint8_t nfields;
    uint8_t first, last; /* enum ptype_level */
    uint8_t place;       /* enum ptype_place */
    bool single;         /* one field, which is the item itself */
    bool flat;           /* the bits of an item are all of it: copied by memcpy, owning nothing */
    uint8_t run;         /* single, and encoded as a number: its encoding, else PTYPE_NONE */
    uint16_t number;
    uint16_t size; /* in C */
};

enum { PTYPE_NUMBERS = 74 }; /* numbers run from 0 to 73 */

/* The descriptor of a data type; NULL for numbers that are no item (UNDEF, BUFFER, KVAL, unknown
 * ones).
 */
extern const struct ptype ptype_table[PTYPE_NUMBERS];

static inline const struct ptype *ptype_find(uint16_t number)
{
    return number < PTYPE_NUMBERS && ptype_table[number].fields ? &ptype_table[number] : NULL;
}

/* One encoding. */
struct ptype_flavour {
    const char *name; /* as in the handshake: "v41" */
    uint8_t level;    /* enum ptype_level */
    bool fixed;       /* big-endian, fixed width; else base-128 */
    bool short_null;  /* in a value, an array of UNDEF is the type alone, without a count */
};

/* Wireup's own buffers: variable length as v41, with every type of every release. */
extern const struct ptype_flavour ptype_own;

/* The encoding of this name ("v3", "v41" …), or NULL. */
const struct ptype_flavour *ptype_flavour(struct slice name);

static inline bool ptype_flat(const struct ptype *t)
{
    return t->flat;
}

static inline bool ptype_known(const struct ptype_flavour *as, const struct ptype *t)
{
    return as->level == PTYPE_OWN || (t->first <= as->level && as->level <= t->last);
}

/* The fewest bytes one item can take in this encoding; at least 1. */
size_t ptype_least(const struct ptype_flavour *as, const struct ptype *t);

/* Operations on hwloc's objects, by the code that may load it (src/topo). All return 0 or a PTYPE_
 * error; texts are malloc'ed. */
struct ptype_foreign {
    int (*cpuset_text)(const pmix_cpuset_t *set, char **text_p);
    int (*cpuset_parse)(const char *text, pmix_cpuset_t *set_p);
    int (*cpuset_copy)(const pmix_cpuset_t *from, pmix_cpuset_t *to_p);
    void (*cpuset_free)(pmix_cpuset_t *set);
    bool (*cpuset_equal)(const pmix_cpuset_t *a, const pmix_cpuset_t *b);
    /* XML, and support flags of support_size() bytes */
    size_t (*support_size)(void);
    int (*topo_text)(const pmix_topology_t *topo, char **xml_p, void *support_p);
    int (*topo_parse)(const char *xml, const void *support, pmix_topology_t *topo_p);
    int (*topo_copy)(const pmix_topology_t *from, pmix_topology_t *to_p);
    void (*topo_free)(pmix_topology_t *topo);
};

/* Length of the regex at the start of these bytes, its final NUL or its blob included.
 * 0: they end before it does, or its header is not one. */
size_t ptype_regex_len(struct slice bytes);

/* The same for a trusted one in memory. */
size_t ptype_regex_size(const char *regex);

#endif
