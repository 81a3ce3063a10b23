/* own_libraries.h - programs that take our client libraries in place of those that they would load.
 *
 * A program that was linked to another libpmi, libpmi2 or libpmix of the same name asks our server
 * for each value; on our library it reads the store of its job.  LD_LIBRARY_PATH makes the loader
 * take ours, and is set only where the files prove that the program cannot tell the difference:
 *
 *   - it is an ELF program without rights of its own (set-uid, set-gid, capabilities), and is
 *     started where we see its files (what starts programs in containers loads no such library);
 *   - every name that the program, its libraries and Open MPI's components take from the library
 *     that the loader would find is one that ours has, and none has a version;
 *   - it is a client: it is no server or tool of PMIx itself;
 *   - with LD_LIBRARY_PATH the loader does find ours (a DT_RPATH comes before it).
 *
 * WIREUP_LIBRARIES in the program's environment, which the option sets, is auto (what cannot be
 * proven keeps its library), yes (it is an error) or no.
 */
#ifndef WIREUP_DAEMON_OWN_LIBRARIES_H
#define WIREUP_DAEMON_OWN_LIBRARIES_H

#include "base/err.h"
#include "io/elf_walk.h"

#define OWN_LIBRARIES_VARIABLE "WIREUP_LIBRARIES"

/* program: what will be executed; env: its environment; files: what the node knows of its files,
 * over all jobs; first: what a walk from the program has found, NULL: it is no ELF program.
 * *value_p: the value of LD_LIBRARY_PATH for it, in the arena; NULL: it keeps its own, and why is
 * the reason.  0; OWN_LIBRARIES_REFUSED: the user insists, and why is the sentence; -ENOMEM. */
enum { OWN_LIBRARIES_REFUSED = 1 };
int own_libraries_choose(struct elf_cache *files, const char *program, char *const *env,
                         const struct elf_object *first, struct arena *a, const char **value_p,
                         struct errmsg *why);

/* The folder of the folders of our libraries, in the arena: where they are installed beside this
 * program, or in the build.  The file, named from there, is in it; NULL: it is not found. */
const char *own_libraries_base(struct arena *a, const char *file);

/* The loader ignores the variables of the environment there: set-uid, set-gid, capabilities. */
bool own_libraries_has_rights(const char *program);

#endif
