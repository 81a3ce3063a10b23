/* install_paths.c - see install_paths.h.  Meson gives the folders below the prefix. */
#include "tools/pmix/install_paths.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/slice.h"

const char *const install_folder_names[INSTALL_FOLDERS] = {
    "prefix", "bindir", "libdir", "incdir", "mandir", "pkglibdir", "sysconfdir",
};

static const char *const folders[INSTALL_FOLDERS] = {
    "", FOLDER_BIN, FOLDER_LIB, FOLDER_INCLUDE, FOLDER_MAN, FOLDER_LIB, FOLDER_ETC,
};

/* PREFIX/bin/pps without "/bin/pps". */
static struct slice prefix_of(const char *program)
{
    const char *name = strrchr(program, '/');
    struct slice dir = { program, name ? (size_t)(name - program) : 0 };
    size_t tail = strlen("/" FOLDER_TOOLS);

    if (dir.len > tail && !memcmp(dir.ptr + dir.len - tail, "/" FOLDER_TOOLS, tail))
        return slice_head(dir, dir.len - tail);
    return SLICE("/usr/local");
}

void install_paths_find(struct install_paths *p)
{
    char program[4096] = "";
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    struct slice prefix = prefix_of(n > 0 ? program : "");

    for (size_t i = 0; i < INSTALL_FOLDERS; i++) {
        if (folders[i][0] == '/')
            snprintf(p->paths[i], sizeof p->paths[i], "%s", folders[i]);
        else
            snprintf(p->paths[i], sizeof p->paths[i], SLICE_FMT "%s%s", SLICE_ARG(prefix),
                     folders[i][0] ? "/" : "", folders[i]);
    }
}
