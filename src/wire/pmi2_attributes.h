/* pmi2_attributes.h - the attributes that a process manager has by itself
 * (proto/pmi2_attributes.def), for the server, which makes them, and for our library, which asks
 * for those that are not in the store. */
#ifndef WIREUP_WIRE_PMI2_ATTRIBUTES_H
#define WIREUP_WIRE_PMI2_ATTRIBUTES_H

#include "base/slice.h"

enum attribute_scope { ATTRIBUTE_JOB, ATTRIBUTE_NODE };
enum attribute_source { ATTRIBUTE_PRESET, ATTRIBUTE_MADE, ATTRIBUTE_HOST };

/* Attributes of nodes with this prefix are those of all connected jobs. */
#define ATTRIBUTE_CONNECTED "connected:"

/* Such an attribute is not in the store before it has been asked for. */
static inline bool attribute_is_found_later(enum attribute_scope scope, struct slice name)
{
    static const struct {
        enum attribute_scope scope;
        enum attribute_source source;
        const char *name;
    } rows[] = {
#define ATTRIBUTE(scope, name, source) { ATTRIBUTE_##scope, ATTRIBUTE_##source, #name },
#include "proto/pmi2_attributes.def"
#undef ATTRIBUTE
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].scope == scope && rows[i].source != ATTRIBUTE_PRESET &&
            slice_is(name, rows[i].name))
            return true;
    }
    return scope == ATTRIBUTE_NODE && slice_starts(name, SLICE(ATTRIBUTE_CONNECTED));
}

#endif
