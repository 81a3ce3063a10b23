/* write_all.c - see write_all.h. */
#include "io/write_all.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

int write_all_slice(int fd, struct slice s)
{
    struct pollfd p = { fd, POLLOUT, 0 };

    while (s.len) {
        ssize_t n = write(fd, s.ptr, s.len);
        if (n < 0 && errno == EAGAIN)
            poll(&p, 1, -1);
        else if (n < 0 && errno != EINTR)
            return -errno;
        s = slice_skip(s, n > 0 ? (size_t)n : 0);
    }
    return 0;
}
