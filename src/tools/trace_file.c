/* trace_file.c - see trace_file.h. */
#include "tools/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

enum { TRACE_FILE_CHUNK = 1 << 20 };

static bool is_input(const char *path)
{
    return !strcmp(path, "-");
}

const char *trace_file_name(const char *path)
{
    return is_input(path) ? "standard input" : path;
}

int trace_file_read(const struct log *log, const char *path,
                    int (*take)(void *arg, struct slice bytes), void *arg)
{
    int fd = is_input(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    char *piece = malloc(TRACE_FILE_CHUNK);
    ssize_t n = fd < 0 || !piece ? -1 : 1;
    int rc = 0;

    while (n > 0 && rc == 0) {
        do
            n = read(fd, piece, TRACE_FILE_CHUNK);
        while (n < 0 && errno == EINTR);
        if (n > 0)
            rc = take(arg, slice_mem(piece, (size_t)n));
    }
    if (n < 0)
        log_error(log, "cannot read the trace %s: %s", trace_file_name(path), err_text(errno));
    if (fd >= 0 && !is_input(path))
        close(fd);
    free(piece);
    return n < 0 ? 2 : rc;
}
