/* job_number.c - see job_number.h. */
#include "io/job_number.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t address(uint32_t value, struct sockaddr_un *at)
{
    int n;

    *at = (struct sockaddr_un){ .sun_family = AF_UNIX };
    n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "wireup-job/%u/%u", (unsigned)geteuid(),
                 value);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

void job_number_take(struct job_number *n)
{
    struct sockaddr_un at;

    if (n->value)
        return;
    n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (uint32_t v = 1; n->fd >= 0 && v <= JOB_NUMBER_TRIES; v++) {
        if (bind(n->fd, (const struct sockaddr *)&at, address(v, &at)) == 0) {
            n->value = v;
            return;
        }
    }
    job_number_drop(n);
    n->value = (uint32_t)getpid();
}

void job_number_drop(struct job_number *n)
{
    if (n->fd >= 0)
        close(n->fd);
    *n = JOB_NUMBER_NONE;
}
