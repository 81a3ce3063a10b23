/* elf_symbols.h - the names that an ELF file offers to other files, and those that it takes from
 * them.
 *
 * The table is found by the section headers; a file without them has no table here.  Whatever the
 * file claims is checked against its size and the limits in elf_symbols.c.
 */
#ifndef WIREUP_IO_ELF_SYMBOLS_H
#define WIREUP_IO_ELF_SYMBOLS_H

#include <stdbool.h>

#include "io/elf_file.h"

/* defined: it offers the name; else it takes it.  False: no more. */
typedef bool elf_symbol_fn(void *arg, const char *name, bool defined);

/* path: a file for this machine.  The names last as long as the call.  0, also when fn has had
 * enough; ELF_FILE_OTHER: no such file, no table, or a damaged one; -errno. */
int elf_symbols_each(const char *path, elf_symbol_fn *fn, void *arg);

/* The file gives versions to the names that it offers.  False also if it cannot be read. */
bool elf_symbols_versioned(const char *path);

#endif
