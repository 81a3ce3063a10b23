/* create.h - the one place where Wireup makes files and directories.
 *
 * A name in a directory that others may write to can be taken before us: by a link that leads to a
 * file of the user's, by a file of theirs, by a directory that they can look into.  So nothing else
 * in the sources creates anything by name (tests/check-files); the table in docs/design/files.md
 * lists who creates what, by which of these rules:
 *
 *   new          it must not exist, and nobody else may read it
 *   private      a directory that is ours alone, made now or before
 *   named        a file that the user has named: as the shell's `>`, but for what others have put
 *                there for us to fall over
 */
#ifndef WIREUP_IO_CREATE_H
#define WIREUP_IO_CREATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* A new file of mode 0600, for writing.  The descriptor, or -errno (-EEXIST: there is one). */
int create_new(const char *path);

/* A further name for a file that is complete: it appears at once, or not at all (-EEXIST). */
int create_name(const char *file, const char *name);

/* A directory of mode 0700; one that is there already is good when it belongs to us, is no link
 * and is open to nobody else.  0, -EACCES: it is not, or -errno. */
int create_private(const char *path);
/* Relative to a directory; it must not exist. */
int create_private_at(int dir, const char *name);

/* Is this a directory of ours that nobody else can look into or write to? */
bool create_is_private(const char *path);

/* Replaces what is in a file that the user has named, or makes it.  Not through symbolic links that
 * belong to others than us and root; not into files of others, nor through further hard links,
 * where everybody may put names (/tmp).  What is no regular file (a device, a pipe that somebody
 * reads) is written to as it is.  The descriptor, or -errno with a sentence. */
int create_named(const char *path, mode_t mode, struct errmsg *err);

#endif
