/* inherited_fds_test.c - what was open before is closed, and nothing else. */
#include "io/inherited_fds.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/tap.h"

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

int main(void)
{
    struct inherited_fds f = { NULL, 0 };
    int before[2], after;

    if (pipe2(before, O_CLOEXEC) < 0)
        return 1;
    inherited_fds_note(&f);
    after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    OK(f.n >= 2 && after > 2);
    inherited_fds_close(&f);
    OK_F(!is_open(before[0]) && !is_open(before[1]), "they are closed");
    OK_F(is_open(after) && is_open(0) && is_open(1) && is_open(2), "others are not");
    inherited_fds_close(&f);
    OK(is_open(after) && f.n == 0);
    close(after);
    return tap_done();
}
