/* path_search.c - see path_search.h. */
#include "daemon/path_search.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PATH if it is unset, as in the C library. */
#define DEFAULT_PATH "/bin:/usr/bin"

enum verdict { GOOD = 0, MISSING, DIRECTORY, NO_FILE, NO_PERMISSION };

static enum verdict judge(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return errno == EACCES ? NO_PERMISSION : MISSING;
    if (S_ISDIR(st.st_mode))
        return DIRECTORY;
    if (!S_ISREG(st.st_mode))
        return NO_FILE;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? GOOD : NO_PERMISSION;
}

static int set_error(enum verdict v, const char *path, struct errmsg *err)
{
    switch (v) {
    case GOOD: break;
    case MISSING: return errmsg_set(err, PATH_SEARCH_NOT_FOUND, "%.500s: no such program", path);
    case DIRECTORY:
        return errmsg_set(err, PATH_SEARCH_NOT_EXECUTABLE,
                          "%.500s: it is a directory, not a program", path);
    case NO_FILE:
        return errmsg_set(err, PATH_SEARCH_NOT_EXECUTABLE, "%.500s: it is not a regular file",
                          path);
    case NO_PERMISSION:
        return errmsg_set(err, PATH_SEARCH_NOT_EXECUTABLE, "%.500s: no permission to execute it",
                          path);
    }
    return 0;
}

/* dir/name; relative directories are taken from wdir. */
static const char *join(struct arena *a, const char *wdir, struct slice dir, const char *name)
{
    if (dir.len == 0 && wdir)
        return arena_printf(a, "%s/%s", wdir, name);
    if (dir.len == 0)
        dir = SLICE(".");
    if (wdir && dir.ptr[0] != '/')
        return arena_printf(a, "%s/" SLICE_FMT "/%s", wdir, SLICE_ARG(dir), name);
    return arena_printf(a, SLICE_FMT "/%s", SLICE_ARG(dir), name);
}

/* Not found on PATH.  denied: a file of that name on PATH that may not be executed, or NULL. */
static int search_here(struct arena *a, const char *name, const char *wdir, const char *denied,
                       bool path_only, const char **path_p, struct errmsg *err)
{
    const char *path = join(a, wdir, SLICE_NULL, name);
    enum verdict v;

    if (!path)
        return -ENOMEM;
    v = judge(path);
    if (v == GOOD && !path_only) {
        *path_p = path;
        return 0;
    }
    if (denied)
        return set_error(NO_PERMISSION, denied, err);
    if (v == GOOD)
        return errmsg_set(err, PATH_SEARCH_NOT_FOUND,
                          "%.300s: not found on PATH; it is in the working directory: ./%.300s",
                          name, name);
    if (v == NO_PERMISSION && !path_only && access(path, F_OK) == 0)
        return set_error(v, path, err);
    if (path_only)
        return errmsg_set(err, PATH_SEARCH_NOT_FOUND, "%.500s: not found on PATH", name);
    return errmsg_set(err, PATH_SEARCH_NOT_FOUND,
                      "%.300s: not found on PATH or in the working directory%s%.500s", name,
                      wdir ? " " : "", wdir ? wdir : "");
}

static int search_path(struct arena *a, const char *name, const char *wdir, const char *search,
                       bool path_only, const char **path_p, struct errmsg *err)
{
    struct slice rest = slice_str(search ? search : DEFAULT_PATH);
    const char *denied = NULL, *path;
    bool more = true;

    while (more) {
        enum verdict v;
        more = slice_find(rest, ':') < rest.len;
        path = join(a, wdir, slice_cut(&rest, ':'), name);
        if (!path)
            return -ENOMEM;
        v = judge(path);
        if (v == GOOD) {
            *path_p = path;
            return 0;
        }
        /* Only a file that exists but cannot be executed is worth reporting; directories are not.
         */
        if (v == NO_PERMISSION && access(path, F_OK) == 0 && !denied)
            denied = path;
    }
    return search_here(a, name, wdir, denied, path_only, path_p, err);
}

int path_search_program(struct arena *a, const char *name, const char *wdir, const char *search,
                        bool path_only, const char **path_p, struct errmsg *err)
{
    const char *path = name;

    if (!strchr(name, '/'))
        return search_path(a, name, wdir, search, path_only, path_p, err);
    if (wdir && name[0] != '/')
        path = arena_printf(a, "%s/%s", wdir, name);
    if (!path)
        return -ENOMEM;
    *path_p = path;
    return set_error(judge(path), path, err);
}

/* It was removed while we are in it: the kernel still knows its name. */
static int no_current(struct errmsg *err)
{
    static const char gone[] = " (deleted)";
    int why = errno;
    char host[256] = "localhost", path[PATH_MAX];
    ssize_t n = readlink("/proc/self/cwd", path, sizeof path - 1);
    const char *known = getenv("PWD");

    path[n > 0 ? n : 0] = '\0';
    if (n > (ssize_t)strlen(gone) && strcmp(path + n - strlen(gone), gone) == 0)
        path[n - (ssize_t)strlen(gone)] = '\0';
    if (path[0])
        known = path;
    if (gethostname(host, sizeof host - 1) < 0)
        host[0] = '\0';
    return errmsg_set(
        err, PATH_SEARCH_NOT_EXECUTABLE,
        "node %s: the working directory%s%.500s cannot be used: %s; change to one that "
        "exists on all nodes, or name it by -wdir",
        host, known ? " " : "", known ? known : "", err_text(why));
}

int path_search_wdir(struct arena *a, const char *given, const char **wdir_p, struct errmsg *err)
{
    char here[PATH_MAX];
    const char *path = given;
    struct stat st;

    if (given[0] != '/') {
        if (!getcwd(here, sizeof here))
            return no_current(err);
        path = strcmp(given, ".") ? arena_printf(a, "%s/%s", here, given)
                                  : arena_str(a, slice_str(here));
    }
    if (!path)
        return -ENOMEM;
    *wdir_p = path;
    if (stat(path, &st) != 0)
        return errmsg_set(err, PATH_SEARCH_NOT_EXECUTABLE, "working directory %.500s: %s", path,
                          err_text(errno));
    if (!S_ISDIR(st.st_mode))
        return errmsg_set(err, PATH_SEARCH_NOT_EXECUTABLE,
                          "working directory %.500s: it is not a directory", path);
    if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
        return errmsg_set(err, PATH_SEARCH_NOT_EXECUTABLE, "working directory %.500s: %s", path,
                          err_text(errno));
    return 0;
}
