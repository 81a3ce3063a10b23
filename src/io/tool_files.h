/* tool_files.h - rendezvous files by which PMIx tools find a server.
 *
 * They have the names that OpenPMIx's tools look for, and are in a directory that is ours alone:
 * <tmpdir>/wireup-pmix-<uid>, of mode 0700, refused if another user has made it.  Tools search
 * below the directory that they know, so one level more does not hide a file from them.  Only files
 * that a tool opens by their full name (the system server's, and one that a user has named) are
 * where it expects them.  No link is followed, no file of others is overwritten, a file is complete
 * before it has its name, and all are removed with the server.
 *
 * A killed server leaves its files.  A living server holds a lock (flock) on each of its own, which
 * the kernel releases with it: so the next server, or `wireup ps`, can tell stale files from those
 * in use, and removes them.  A file that a user has named stays.
 */
#ifndef WIREUP_IO_TOOL_FILES_H
#define WIREUP_IO_TOOL_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/list.h"

/* The content of the files. */
struct tool_file {
    const char *uri, *hostname;
};

/* The files that this process has made. */
struct tool_file_list {
    struct list files;
};

enum { TOOL_FILES_PATH_MAX = 4096 };

/* The directory of the files: the configured one (NULL, empty: none), else that of this variable,
 * else TMPDIR, else /tmp.  Variables with a relative path, which differs for each process, are
 * ignored. */
const char *tool_files_dir(const char *given, const char *variable);

void tool_files_init(struct tool_file_list *c);
void tool_files_remove(struct tool_file_list *c); /* harmless twice */

/* All return 0, or -errno with a sentence. */

/* Makes the private directory, if need be, and in it the first file,
 * <dir>/pmix.<host>.tool.<which>.  Removes the files that earlier processes of ours have left
 * there.  dir: TOOL_FILES_PATH_MAX bytes. */
int tool_files_begin(struct tool_file_list *c, const struct tool_file *what, const char *tmpdir,
                     const char *which, char *dir, struct errmsg *err);
/* A further one; `which` empty: <dir>/pmix.<host>.tool. */
int tool_files_put_tool(struct tool_file_list *c, const struct tool_file *what, const char *dir,
                        const char *which, struct errmsg *err);
/* <dir>/pmix.<role>.<host>: the file of the one server of this machine that has the role ("sys",
 * the system's server, "sched", its scheduler, "sysctrlr", its controller). */
int tool_files_put_role(struct tool_file_list *c, const struct tool_file *what, const char *dir,
                        const char *role, struct errmsg *err);
/* A file that a user has named. */
int tool_files_put(struct tool_file_list *c, const struct tool_file *what, const char *path,
                   struct errmsg *err);
/* The same with the given text. */
int tool_files_put_text(struct tool_file_list *c, const char *path, const char *text,
                        struct errmsg *err);

/* Removes the files of killed servers, and the directory if it is empty then; of those beside it,
 * which have the role "sys", the ones of launchers. */
void tool_files_clear(const char *tmpdir);

#endif
