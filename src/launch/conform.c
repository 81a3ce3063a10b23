/* conform.c - see conform.h. */
#include "launch/conform.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "launch/options.h"

/* It is beside this program. */
int conform_become(char **argv, const struct log *log)
{
    char self[PATH_MAX], path[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    self[n > 0 ? n : 0] = '\0';
    slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    snprintf(path, sizeof path, "%swireup-conform", slash ? self : "");
    execv(path, argv + 1);
    log_error(log, "conform: cannot run %s: %s", path, err_text(-errno));
    return launch_exit_code(LAUNCH_REFUSED);
}
