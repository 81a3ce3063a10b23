/* pmix_fields.h - the rows of proto/pmix_types.def, pmix_structs.def and pmix_wire.def as
 * constants: of which C type an item is, how a field is spelled, and what its items are.
 *
 * For the files behind pmix_types.h alone: with these the tables become descriptors (pmix_types.c),
 * and functions in which nothing is left to look up (pmix_pack.c, pmix_unpack.c).
 */
#ifndef WIREUP_WIRE_PMIX_FIELDS_H
#define WIREUP_WIRE_PMIX_FIELDS_H

#include "wire/pmix_types.h"

/* The C type of each data type. */
#define TYPE(name, number, ctype, member, shape, state) typedef ctype c_##name;
#include "proto/pmix_types.def"
#undef TYPE

/* A field of a struct nameservice a data type or one of the kinds of pmix_structs.def.  For each:
 * how it is spelled, and which type its items have. */
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
