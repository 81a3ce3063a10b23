/* fd_pass.c - see fd_pass.h. */
#include "base/fd_pass.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

static bool has_descriptors(const struct cmsghdr *c)
{
    return c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS;
}

size_t fd_pass_take(struct msghdr *m, int *fds, size_t room)
{
    size_t n = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        for (size_t at = 0; has_descriptors(c) && CMSG_LEN(at + sizeof(int)) <= c->cmsg_len;
             at += sizeof(int)) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
            if (n < room)
                fds[n++] = fd;
            else
                close(fd);
        }
    }
    return n;
}

/* The kernel closes those that there is no room for.  Credentials, where the socket asks for them,
 * come first. */
ssize_t fd_pass_receive(int fd, void *to, size_t n, int flags, int *passed_p)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { to, n };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof control.bytes };
    ssize_t got = recvmsg(fd, &m, flags | MSG_CMSG_CLOEXEC);

    if (got >= 0)
        fd_pass_take(&m, passed_p, *passed_p < 0);
    return got;
}
