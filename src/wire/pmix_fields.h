/* pmix_fields.h - the rows of proto/pmix_types.def, pmix_structs.def and pmix_wire.def as
 * constants: the C type of an item, the encoding of a field, and the type of its items.
 *
 * Only for the files that implement pmix_types.h: with these the tables become descriptors
 * (pmix_types.c), and functions without run-time look-ups (pmix_pack.c, pmix_unpack.c).
 */
#ifndef WIREUP_WIRE_PMIX_FIELDS_H
#define WIREUP_WIRE_PMIX_FIELDS_H

#include "wire/pmix_types.h"

/* The C type of each data type. */
#define TYPE(name, number, ctype, member, shape, state) typedef ctype c_##name;
#include "proto/pmix_types.def"
#undef TYPE

/* A field of a struct names a data type or one of the kinds of pmix_structs.def.  For each: its
 * encoding, and the type of its items. */
enum {
    OP_TEXT = PTYPE_STR,
    OP_ARGV = PTYPE_ARGV,
    OP_ARGS = PTYPE_ARGC,
    OP_KEY = PTYPE_TEXT,
    OP_NSPACE = PTYPE_TEXT,
    OP_CHAR = PTYPE_BYTE,
    OP_OPAQUE = PTYPE_NONE,
#define WIRE(name, op, place, first, last)            OP_##name = PTYPE_##op,
#define WIRE_STRUCT(name, fields, place, first, last) OP_##name = PTYPE_NEST,
#include "proto/pmix_wire.def"
#undef WIRE
#undef WIRE_STRUCT
};

enum {
    ELEM_TEXT = PMIX_STRING,
    ELEM_ARGV = PMIX_STRING,
    ELEM_ARGS = PMIX_STRING,
    ELEM_KEY = PMIX_STRING,
    ELEM_NSPACE = PMIX_STRING,
    ELEM_CHAR = PMIX_BYTE,
    ELEM_OPAQUE = PMIX_POINTER,
#define TYPE(name, number, ctype, member, shape, state) ELEM_##name = (number),
#include "proto/pmix_types.def"
#undef TYPE
};

#define PTYPE_SIZE_OF(type, member) sizeof(((c_##type *)NULL)->member)

#endif
