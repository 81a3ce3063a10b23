/* start_window.c - see start_window.h. */
#include "daemon/start_window.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/limit.h"

/* "0.20 0.18 0.12 RUNNABLE/ALL LAST-PID": those that run, of which we are one, or wait for a
 * processor. */
static bool read_runnable(struct slice loadavg, uint32_t *n_p)
{
    for (int i = 0; i < 3; i++)
        slice_cut(&loadavg, ' ');
    return slice_u32(slice_cut(&loadavg, '/'), n_p);
}

bool start_window_fits(uint32_t under_way, struct slice loadavg, uint32_t processors)
{
    uint32_t runnable;

    if (under_way < LIMIT_AGENT_AT_ONCE || under_way >= LIMIT_AGENT_MOST)
        return under_way < LIMIT_AGENT_AT_ONCE;
    return read_runnable(loadavg, &runnable) && runnable <= processors;
}

static size_t read_loadavg(char *text, size_t room)
{
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, room) : -1;

    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

bool start_window_allows(uint32_t under_way)
{
    char text[128];

    if (under_way < LIMIT_AGENT_AT_ONCE)
        return true;
    return start_window_fits(under_way, slice_mem(text, read_loadavg(text, sizeof text)),
                             (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}
