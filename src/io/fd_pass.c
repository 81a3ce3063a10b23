/* fd_pass.c - see fd_pass.h. */
#include "io/fd_pass.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

ssize_t fd_pass_send(int fd, struct slice bytes, int attach)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { { 0 } };
    struct iovec iov = { (void *)(uintptr_t)bytes.ptr, bytes.len };
    struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
    struct cmsghdr *c;

    if (attach < 0) /* almost every reply: the plain call is cheaper */
        return send(fd, bytes.ptr, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    m.msg_control = control.bytes;
    m.msg_controllen = sizeof control.bytes;
    c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof attach);
    memcpy(CMSG_DATA(c), &attach, sizeof attach);
    return sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}
