/* post.c - see post.h. */
#include "tools/conform/post.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

/* The name begins with a zero byte: it is in no folder. */
static socklen_t put_address(struct sockaddr_un *a, const char *name)
{
    size_t len = strlen(name);

    *a = (struct sockaddr_un){ .sun_family = AF_UNIX };
    memcpy(a->sun_path + 1, name, len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

int post_listen(char name[POST_NAME])
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un a;
    socklen_t len;

    snprintf(name, POST_NAME, "wireup-conform-%d-%08" PRIx64, (int)getpid(),
             clock_seed() & UINT32_MAX);
    len = put_address(&a, name);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&a, len) == 0 && listen(fd, 64) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int post_accept(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    struct ucred who;
    socklen_t len = sizeof who;

    if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 && who.uid == geteuid())
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int post_connect(const char *name)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un a;
    socklen_t len;

    if (strlen(name) >= POST_NAME) {
        errno = EINVAL;
        return -1;
    }
    len = put_address(&a, name);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, len) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}
