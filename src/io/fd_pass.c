/* fd_pass.c - see fd_pass.h. */
#include "io/fd_pass.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ATTACHED_MAX = 8 };

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

/* All but the first are closed. */
static int first_of(struct msghdr *m)
{
    int first = -1;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= c->cmsg_len; at += sizeof(int)) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + at, sizeof fd);
            if (first < 0)
                first = fd;
            else
                close(fd);
        }
    }
    return first;
}

ssize_t fd_pass_receive(int fd, void *to, size_t n, int *attached_p)
{
    union {
        char bytes[CMSG_SPACE(ATTACHED_MAX * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { to, n };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof control.bytes };
    ssize_t got = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    *attached_p = got < 0 ? -1 : first_of(&m);
    return got;
}
