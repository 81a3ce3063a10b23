/* fakemachine.c - preloaded, it is another machine: what is in /sys is in the folder that WU_SYS
 * names, and the file systems that are mounted are those of the table WU_MOUNTS. */
#include <dirent.h>
#include <dlfcn.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DIR *opendir(const char *path)
{
    DIR *(*real)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");
    const char *folder = getenv("WU_SYS");
    char made[512];

    if (!folder || strncmp(path, "/sys/class/", 11) != 0)
        return real(path);
    snprintf(made, sizeof made, "%s%s", folder, path + 4);
    return real(made);
}

FILE *setmntent(const char *path, const char *how)
{
    FILE *(*real)(const char *, const char *) =
        (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "setmntent");
    const char *table = getenv("WU_MOUNTS");

    return real(table && !strcmp(path, "/proc/self/mounts") ? table : path, how);
}
