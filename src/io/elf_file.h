/* elf_file.h - what an ELF file says about the libraries that it needs.
 *
 * Only files for this machine are read: those of another one cannot be loaded here.  Whatever the
 * file claims about itself is checked against its size and the limits in elf_file.c.
 */
#ifndef WIREUP_IO_ELF_FILE_H
#define WIREUP_IO_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct elf_file {
    const char **needed; /* DT_NEEDED, in the order of the file */
    uint32_t nneeded;
    const char *rpath,
        *runpath; /* as they are written; NULL: none.  With a runpath the other is void */
    bool dynamic; /* it has a dynamic section at all */
};

/* Not an ELF file for this machine, or a damaged one. */
enum { ELF_FILE_OTHER = 1 };

/* Exactly len bytes at this position.  0; ELF_FILE_OTHER: the file is shorter; -errno. */
int elf_file_read_at(int fd, uint64_t at, void *to, size_t len);

/* fd: a regular file, open for reading.  The strings are in the arena.  0; ELF_FILE_OTHER; -errno.
 */
int elf_file_read(int fd, struct arena *a, struct elf_file *f_p);

/* The build id that the linker has written, in hexadecimal digits; empty: there is none, or the
 * file is no such file. */
enum { ELF_BUILD_ID_ROOM = 2 * 64 + 1 };
void elf_file_build_id(int fd, char id[ELF_BUILD_ID_ROOM]);

/* Whether the constants of the file have the names of these n variables (of at most 63 bytes). Each
 * is written as "NAME=", so that a program that only looks for them, as ours, does not seem to have
 * them.  Best with the rarest first.  False also if the file cannot be read. */
bool elf_file_has_names(int fd, const char *const *names, uint32_t n);

#endif
