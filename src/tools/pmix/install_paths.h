/* install_paths.h - where this library is installed, for pmix_info and pmixcc.
 *
 * The prefix is found from the program's own place, so that what is moved, or installed below
 * another prefix without being built again, tells the truth.  In a build directory it is
 * /usr/local.
 */
#ifndef WIREUP_TOOLS_PMIX_INSTALL_PATHS_H
#define WIREUP_TOOLS_PMIX_INSTALL_PATHS_H

#include <stddef.h>

enum install_folder {
    INSTALL_PREFIX,
    INSTALL_BIN,
    INSTALL_LIB,
    INSTALL_INCLUDE,
    INSTALL_MAN,
    INSTALL_PKGLIB,
    INSTALL_ETC,
    INSTALL_FOLDERS
};

struct install_paths {
    char paths[INSTALL_FOLDERS][4096 + 256];
};

/* As options of pmix_info name them: "prefix", "bindir" ... */
extern const char *const install_folder_names[INSTALL_FOLDERS];

void install_paths_find(struct install_paths *p);

#endif
