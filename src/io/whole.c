/* whole.c - see whole.h. */
#include "io/whole.h"

#include <errno.h>
#include <unistd.h>

int whole_write(int fd, struct slice s)
{
    while (s.len) {
        ssize_t n = write(fd, s.ptr, s.len);
        if (n < 0 && errno != EINTR)
            return -errno;
        s = slice_skip(s, n > 0 ? (size_t)n : 0);
    }
    return 0;
}
