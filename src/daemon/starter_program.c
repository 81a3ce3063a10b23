/* starter_program.c - see starter_program.h. */
#include "daemon/starter_program.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool starter_program_is(struct slice path)
{
    static const char *const names[] = {
        "sh",   "bash",    "dash",   "ksh",    "zsh",      "env",    "numactl", "taskset",
        "time", "timeout", "nice",   "ionice", "chrt",     "stdbuf", "setarch", "prlimit",
        "perf", "strace",  "ltrace", "gdb",    "valgrind", "nohup",  "setsid",  "sudo",
    };

    while (slice_find(path, '/') < path.len)
        slice_cut(&path, '/');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (slice_is(path, names[i]))
            return true;
    }
    return false;
}

struct slice starter_program_interpreter(const char *path, char line_p[STARTER_LINE_MAX])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd >= 0 ? read(fd, line_p, STARTER_LINE_MAX - 1) : -1;
    struct slice line, first;

    if (fd >= 0)
        close(fd);
    line_p[n > 0 ? n : 0] = 0;
    if (n < 2 || line_p[0] != '#' || line_p[1] != '!')
        return slice_mem(line_p, 0);
    line = slice_trim(slice_mem(line_p + 2, strcspn(line_p + 2, "\n")));
    first = slice_cut(&line, ' ');
    if (first.len < 4 || !slice_is(slice_skip(first, first.len - 4), "/env"))
        return first;
    do /* env -S NAME=VALUE */
        first = slice_cut(&line, ' ');
    while (line.len && (slice_starts(first, SLICE("-")) || slice_find(first, '=') < first.len));
    return first;
}

bool starter_program_runs(const char *path)
{
    char line[STARTER_LINE_MAX];

    return starter_program_is(starter_program_interpreter(path, line));
}
