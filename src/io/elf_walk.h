/* elf_walk.h - the shared libraries that the dynamic loader will load with a program, found as it
 * finds them: LD_PRELOAD, DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH, /etc/ld.so.cache, the usual
 * directories.
 *
 * No process is started for it.  What a file says is kept by device, inode, size and time of its
 * last change, so the second program with the same libraries costs only their look-up.  Libraries
 * of the system and of the network, which no process manager matters to, are named but not opened.
 * What a program opens at run time by itself is not seen.
 */
#ifndef WIREUP_IO_ELF_WALK_H
#define WIREUP_IO_ELF_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "io/elf_file.h"

/* What is known of files. */
struct elf_cache {
    struct map files;
};

void elf_cache_init(struct elf_cache *c, uint64_t seed);
void elf_cache_free(struct elf_cache *c); /* harmless twice */

/* Forgets all if that is much.  What earlier walks have found is not valid any more. */
void elf_cache_trim(struct elf_cache *c);

/* Variables whose names a walk looks for (elf_file_has_names()); the same in all walks of a cache.
 */
struct elf_marks {
    const char *const *names;
    uint32_t n;
    const char *library; /* only files whose name begins with this, and the program, are searched */
    bool all;            /* libraries of the system and of the network are opened, too */
};

struct elf_object {
    struct elf_object *next; /* in the order of loading; the program is the first */
    const struct elf_object *loader;
    const char *name, *path; /* the name as it is needed; path NULL: not looked for, or not found */
    const struct elf_file *file; /* NULL: not opened; valid until the cache is trimmed */
    bool marked;
};

/* program: an absolute path; env: of the process; the objects are in the arena.  0; ELF_FILE_OTHER:
 * the program is not such a file; -errno. */
int elf_walk(struct elf_cache *c, const char *program, char *const *env,
             const struct elf_marks *marks, struct arena *a, struct elf_object **first_p);

#endif
