/* tool_files.h - files by which PMIx tools find a server.
 *
 * They have the names that OpenPMIx's tools look for, and stand in a directory that is ours alone:
 * <tmpdir>/wireup-pmix-<uid>, made with mode 0700, or refused when somebody else has made it.
 * Tools search below the directory that they know, so a level more does not hide a file from them.
 * Only files that a tool opens by their full name (the system's server, and what somebody has
 * named) stand where it expects them.  No link is followed, nothing of others is overwritten, a
 * file is complete before it has its name, and all go with the server.
 *
 * Who is killed leaves its files.  A living server holds a lock (flock) on each of its own, which
 * the kernel takes away with it: so the next one to come can tell what is left from what is in use,
 * and removes it.
 */
#ifndef WIREUP_IO_TOOL_FILES_H
#define WIREUP_IO_TOOL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/list.h"

/* What the files say of a server. */
struct tool_file {
    const char *uri, *hostname;
};

/* Those that this process has made. */
struct tool_file_list {
    struct list files;
};

enum { TOOL_FILES_PATH_MAX = 4096 };

/* Where servers and tools meet: the directory that somebody was told (NULL, empty: none), else the
 * one that this variable names, else TMPDIR, else /tmp.  Variables with a relative path, which
 * names another place for each process, are passed over. */
const char *tool_filess_dir(const char *told, const char *variable);

void tool_filess_init(struct tool_file_list *c);
void tool_filess_remove(struct tool_file_list *c); /* harmless twice */

/* All return 0, or -errno with a sentence. */

/* Makes the private directory, if need be, and in it the first file:
 * <dir>/pmix.<host>.tool.<which>. What earlier processes of ours have left there goes.  dir:
 * TOOL_FILES_PATH_MAX bytes. */
int tool_filess_begin(struct tool_file_list *c, const struct tool_file *what, const char *tmpdir,
                      const char *which, char *dir, struct errmsg *err);
/* A further one; `which` empty: <dir>/pmix.<host>.tool. */
int tool_filess_put_tool(struct tool_file_list *c, const struct tool_file *what, const char *dir,
                         const char *which, struct errmsg *err);
/* <dir>/pmix.sys.<host> */
int tool_filess_put_system(struct tool_file_list *c, const struct tool_file *what, const char *dir,
                           struct errmsg *err);
/* One that somebody has named. */
int tool_filess_put(struct tool_file_list *c, const struct tool_file *what, const char *path,
                    struct errmsg *err);
/* The same with another text. */
int tool_filess_put_text(struct tool_file_list *c, const char *path, const char *text,
                         struct errmsg *err);

/* Removes what those who were killed have left, and the directory if nothing else is in it. */
void tool_filess_clear(const char *tmpdir);

#endif
