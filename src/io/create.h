/* create.h - the one place where Wireup creates files and directories.
 *
 * In a directory that others may write to, a name can be taken before us: by a link that leads to a
 * file of the user, by a file of theirs, by a directory that they can read.  So no other source
 * file creates anything by name (tests/check-files); the table in docs/design/files.md lists which
 * module creates which file, by which of these rules:
 *
 *   new          it must not exist, and nobody else may read it
 *   private      a directory that is ours alone, new or existing
 *   named        a file that the user has named: as the shell's `>`, except for traps that others
 *                have put there
 *   parents      the directories above such a file
 */
#ifndef WIREUP_IO_CREATE_H
#define WIREUP_IO_CREATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* A new file of mode 0600, for writing.  The descriptor, or -errno (-EEXIST: there is one). */
int create_new(const char *path);

/* Links a complete file under a further name, atomically.  -EEXIST: the name is taken. */
int create_name(const char *file, const char *name);

/* A directory of mode 0700; an existing one is accepted if it belongs to us, is no link and is
 * closed to everybody else.  0, -EACCES: it is not, or -errno. */
int create_private(const char *path);
/* Relative to a directory; it must not exist. */
int create_private_at(int dir, const char *name);
/* The same as create_new(), and a symbolic link, in a directory of ours. */
int create_new_at(int dir, const char *name);
int create_link_at(int dir, const char *name, const char *target);
/* Gives its final name to a file that was made in a directory of ours under an early name.  0 or
 * -errno. */
int create_rename_at(int dir, const char *early, const char *name);

/* 0: this is a directory of ours that nobody else can look into or write to; -EACCES: it is
 * something else; -ENOENT: there is nothing; or -errno. */
int create_check_private(const char *path);

/* Truncates or creates a file that the user has named.  Symbolic links of users other than us and
 * root are not followed; where everybody may create names (/tmp), files of others and files with
 * further hard links are refused.  Anything but a regular file (a device, a pipe with a reader) is
 * written to as it is.  The descriptor, or -errno with a sentence. */
int create_named(const char *path, mode_t mode, struct errmsg *err);

/* The directories above such a file, as far as they are missing.  Those that exist are accepted
 * unless another user has put them, or a link, where everybody may create names.  0, or -errno with
 * a sentence. */
int create_parents(const char *path, struct errmsg *err);

#endif
