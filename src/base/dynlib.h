/* dynlib.h - functions of libraries that are opened when they are needed.
 *
 * Most processes never need these libraries, and each would pay for them at its start
 * (docs/design/libraries.md).  The caller's functions are members of a struct, and a table tells
 * where: so a misspelt member does not compile.
 *
 * The build asks the linker for the sonames.  DYNLIB_NOTE puts a soname into the programs that may
 * open it, as the ELF note .note.dlopen, where packaging tools look for dependencies that are not
 * linked.
 */
#ifndef WIREUP_BASE_DYNLIB_H
#define WIREUP_BASE_DYNLIB_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct dynlib_function {
    const char *name;
    size_t offset; /* of the pointer, in the caller's struct */
};

enum { DYNLIB_MISSING = 1 };

/* Opens the library and fills in all functions.  0 with a handle for dynlib_close();
 * DYNLIB_MISSING: there is no such library, or a function is not in it; *err (which may be NULL)
 * says which.  Then *library_p is NULL. */
int dynlib_open(const char *soname, const struct dynlib_function *functions, size_t n, void *calls,
                void **library_p, struct errmsg *err);
void dynlib_close(void **library); /* harmless twice */

/* As dynlib_open(), with the libraries that this process has loaded already. */
int dynlib_find(const struct dynlib_function *functions, size_t n, void *calls);

#ifdef __clang__ /* which would add bytes of its own to the note */
#define DYNLIB_NOTE_PLAIN __attribute__((no_sanitize("address")))
#else
#define DYNLIB_NOTE_PLAIN
#endif

/* All arguments are literals. */
#define DYNLIB_NOTE_TEXT(soname, feature, description)                                             \
    "[{\"feature\":\"" feature "\",\"description\":\"" description                                 \
    "\",\"priority\":\"suggested\",\"soname\":[\"" soname "\"]}]"

#define DYNLIB_NOTE(soname, feature, description)                                                  \
    DYNLIB_NOTE_PLAIN                                                                              \
    __attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {               \
        uint32_t name_size, text_size, type;                                                       \
        char name[4];                                                                              \
        char text[(sizeof DYNLIB_NOTE_TEXT(soname, feature, description) + 3) / 4 * 4];            \
    } dynlib_note = { .name_size = 4,                                                              \
                      .text_size = sizeof DYNLIB_NOTE_TEXT(soname, feature, description),          \
                      .type = 0x407c0c0a,                                                          \
                      .name = "FDO",                                                               \
                      .text = DYNLIB_NOTE_TEXT(soname, feature, description) }

#endif
