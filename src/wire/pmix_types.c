/* pmix_types.c - see pmix_types.h: the descriptors made from the tables in proto/, and small facts.
 */
#include "wire/pmix_types.h"

#include <string.h>

#include "wire/pmix_fields.h"

/* Whether the bits of a field, and of a struct, are all of it.  (Structs inside structs count as
 * not: those that have some have more that is not flat.) */
enum {
#define OP(name, fixed, variable, flat) FLAT_OP_##name = (flat),
    PTYPE_OPS(OP)
#undef OP
};

enum {
    FLAT_TEXT = false,
    FLAT_ARGV = false,
    FLAT_ARGS = false,
    FLAT_KEY = true,
    FLAT_NSPACE = true,
    FLAT_CHAR = true,
    FLAT_OPAQUE = true,
#define WIRE(name, op, place, first, last)            FLAT_##name = FLAT_OP_##op,
#define WIRE_STRUCT(name, fields, place, first, last) FLAT_##name = false,
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT
};

enum {
#define STRUCT(type)                     FLAT_FIELDS_##type = true
#define FIELD(type, kind, member)        &FLAT_##kind
#define LOCAL(type, kind, member)        &FLAT_##kind
#define ARRAY(type, kind, member, count) &false
#define END(type)                        ,
#include "proto/pmix_structs.def"
#undef STRUCT
#undef FIELD
#undef LOCAL
#undef ARRAY
#undef END
};

/* The fields of each struct. */
#define STRUCT(type) static const struct ptype_field fields_##type[] = {
#define FIELD(type, kind, member)                                                                  \
    { OP_##kind, false, ELEM_##kind, offsetof(c_##type, member), 0, PTYPE_SIZE_OF(type, member),   \
      #member },
#define LOCAL(type, kind, member)                                                                  \
    { OP_##kind, true, ELEM_##kind, offsetof(c_##type, member), 0, PTYPE_SIZE_OF(type, member),    \
      #member },
#define ARRAY(type, kind, member, count)                                                           \
    { PTYPE_LIST, false,  ELEM_##kind, offsetof(c_##type, member), offsetof(c_##type, count),      \
      0,          #member },
#define END(type)                                                                                  \
    }                                                                                              \
    ;
#include "proto/pmix_structs.def"
#undef STRUCT
#undef FIELD
#undef LOCAL
#undef ARRAY
#undef END

/* The one field of each type that is not a struct: the item itself. */
#define WIRE(name, op, place, first, last)                                                         \
    static const struct ptype_field self_##name = { PTYPE_##op,       false, PMIX_##name, 0, 0,    \
                                                    sizeof(c_##name), NULL };
#define WIRE_STRUCT(name, fields, place, first, last)
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT

#define COUNT(fields) (sizeof(fields) / sizeof(fields)[0])
const struct ptype ptype_table[PTYPE_NUMBERS] = {
#define ROW(id, rows, count, from, to, where, one, bits, number_op)                                \
    [PMIX_##id] = { .name = #id,                                                                   \
                    .fields = (rows),                                                              \
                    .nfields = (count),                                                            \
                    .first = PTYPE_##from,                                                         \
                    .last = PTYPE_##to,                                                            \
                    .place = PTYPE_##where,                                                        \
                    .single = (one),                                                               \
                    .flat = (bits),                                                                \
                    .run = (number_op),                                                            \
                    .number = PMIX_##id,                                                           \
                    .size = sizeof(c_##id) },
#define WIRE(name, op, place, first, last)                                                         \
    ROW(name, &self_##name, 1, first, last, place, true, FLAT_OP_##op,                             \
        PTYPE_IS_NUMBER(PTYPE_##op) ? PTYPE_##op : PTYPE_NONE)
#define WIRE_STRUCT(name, fields, place, first, last)                                              \
    ROW(name, fields_##fields, COUNT(fields_##fields), first, last, place, false,                  \
        FLAT_FIELDS_##fields, PTYPE_NONE)
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT
};

static const struct op_facts {
    uint8_t least[2]; /* variable, fixed */
} op_facts[PTYPE_OP_COUNT] = {
#define OP(name, fixed, variable, flat) [PTYPE_##name] = { { (variable), (fixed) } },
    PTYPE_OPS(OP)
#undef OP
};

const struct ptype_flavour ptype_own = { "own", PTYPE_OWN, false, false };

static const struct ptype_flavour flavours[] = {
    { "v61", PTYPE_V61, false, true },  { "v51", PTYPE_V51, false, true },
    { "v41", PTYPE_V41, false, false }, { "v4", PTYPE_V4, false, false },
    { "v3", PTYPE_V3, true, false },    { "v21", PTYPE_V21, true, false },
};

const struct ptype_flavour *ptype_flavour(struct slice name)
{
    for (size_t i = 0; i < COUNT(flavours); i++)
        if (slice_is(name, flavours[i].name))
            return &flavours[i];
    return NULL;
}

static size_t least_of(const struct ptype_flavour *as, const struct ptype *t)
{
    size_t sum = 0;

    for (size_t i = 0; i < t->nfields; i++) {
        const struct ptype_field *f = &t->fields[i];
        if (f->local)
            continue;
        sum += f->op == PTYPE_NEST ? least_of(as, ptype_find(f->elem))
                                   : op_facts[f->op].least[as->fixed];
    }
    return sum;
}

size_t ptype_least(const struct ptype_flavour *as, const struct ptype *t)
{
    size_t least = least_of(as, t);

    return least ? least : 1;
}

pmix_status_t ptype_status_of(enum ptype_error error, enum ptype_task task)
{
    static const pmix_status_t broken[] = {
        [PTYPE_PACKING] = PMIX_ERR_PACK_FAILURE,
        [PTYPE_UNPACKING] = PMIX_ERR_UNPACK_FAILURE,
        [PTYPE_COPYING] = PMIX_ERROR,
    };

    switch (error) {
    case PTYPE_FINE: return PMIX_SUCCESS;
    case PTYPE_CUT: return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    case PTYPE_UNKNOWN: return PMIX_ERR_UNKNOWN_DATA_TYPE;
    case PTYPE_MISMATCH: return PMIX_ERR_PACK_MISMATCH;
    case PTYPE_NO_ROOM: return PMIX_ERR_UNPACK_INADEQUATE_SPACE;
    case PTYPE_BAD_PARAM: return PMIX_ERR_BAD_PARAM;
    case PTYPE_NOT_SUPPORTED: return PMIX_ERR_NOT_SUPPORTED;
    case PTYPE_NO_MEMORY: return PMIX_ERR_NOMEM;
    case PTYPE_MALFORMED:
    case PTYPE_TOO_DEEP:
    case PTYPE_TOO_LONG: break;
    }
    return broken[task];
}

/* A compressed regex: "blob:", "component=NAME:", "size=DECIMAL:", each ended by a NUL, then that
 * many bytes.  The heads are short; anything longer is not one. */
enum { BLOB_HEAD_MAX = 128 };

static bool head(struct slice *rest, struct slice *text_p)
{
    size_t n = slice_find(slice_head(*rest, BLOB_HEAD_MAX), '\0');

    if (n >= rest->len || n >= BLOB_HEAD_MAX)
        return false;
    *text_p = slice_head(*rest, n);
    *rest = slice_skip(*rest, n + 1);
    return n > 0 && text_p->ptr[n - 1] == ':';
}

static size_t blob_len(struct slice bytes)
{
    struct slice rest = bytes, component, size;
    uint64_t n;

    rest = slice_skip(rest, sizeof "blob:");
    if (!head(&rest, &component) || !slice_starts(component, SLICE("component=")) ||
        !head(&rest, &size))
        return 0;
    if (slice_starts(size, SLICE("size=")))
        size = slice_skip(size, 5);
    size.len--; /* the colon */
    if (!slice_u64(size, &n) || n > rest.len)
        return 0;
    return bytes.len - rest.len + (size_t)n;
}

size_t ptype_regex_len(struct slice bytes)
{
    size_t n;

    if (slice_starts(bytes, slice_mem("blob:", sizeof "blob:")))
        return blob_len(bytes);
    n = slice_find(bytes, '\0');
    return n < bytes.len ? n + 1 : 0;
}

size_t ptype_regex_size(const char *regex)
{
    size_t n = strlen(regex) + 1, heads = n;

    if (memcmp(regex, "blob:", n < 6 ? n : 6) != 0)
        return n;
    /* The owner vouches for the two heads after it; the blob's own length follows from them. */
    for (int i = 0; i < 2; i++)
        heads += strlen(regex + heads) + 1;
    n = blob_len(slice_mem(regex, SIZE_MAX / 2));
    return n ? n : heads;
}
