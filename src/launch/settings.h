/* settings.h - finds and reads the files of settings, before the parser of options begins.
 *
 *   /etc/wireup.conf                      of the system; only root can put it there
 *   $XDG_CONFIG_HOME/wireup/config        of the user; ~/.config without that variable
 *   the file of -config or WIREUP_CONFIG  of a project; without it .wireup.conf in the current
 *                                         directory, if it is there
 *
 * Later files are stronger, and those of -tune (parameter_file.h) are stronger than these. `-config
 * none`: only these are read.  A file that is not there is no mistake,
 * unless -config names it.
 *
 * Options start commands, so others must not be able to write one of these files.  The file of the
 * system and that of the user must not be writable by others, and the latter belongs to the user or
 * to root; else nothing is started.  Nobody has asked for .wireup.conf, and the directory may be
 * anybody's: it counts only if it is a plain file of the user (or root) with one name, which nobody
 * else may write; otherwise there is a remark.  Even then it can only say what starts no command,
 * writes no file and names no node (.project in options.def), for it may have come with somebody's
 * archive.  Whoever names a file by -config has decided to trust it.
 */
#ifndef WIREUP_LAUNCH_SETTINGS_H
#define WIREUP_LAUNCH_SETTINGS_H

#include "base/err.h"
#include "launch/options.h"

#define SETTINGS_SYSTEM "/etc/wireup.conf"
#define SETTINGS_FOUND  ".wireup.conf"

enum { SETTINGS_FILES = 3 };

/* The paths of the three files, the weakest first; NULL: there is none. */
struct settings_paths {
    const char *path[SETTINGS_FILES];
};

/* Sets opt->files, whose texts are in opt's arena, and adds to opt->remarks.  0; LAUNCH_USAGE with
 * the sentence; -errno.  paths_p may be NULL. */
int settings_read(struct launch_options *opt, int argc, char *const *argv, char *const *envp,
                  struct settings_paths *paths_p, struct errmsg *err);

#endif
