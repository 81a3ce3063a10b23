/* fd_pass_test.c - bytes that arrive, and a descriptor that arrives with the first of them. */
#include "io/fd_pass.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/tap.h"

/* Receives bytes in *text_p, and the descriptor, or -1. */
static int receive(int fd, struct slice *text_p)
{
    static char text[64];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { text, sizeof text };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof control.bytes };
    ssize_t n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int got = -1;

    *text_p = slice_mem(text, n > 0 ? (size_t)n : 0);
    if (c)
        memcpy(&got, CMSG_DATA(c), sizeof got);
    return got;
}

int main(void)
{
    int ends[2], wire[2], got;
    struct slice text;
    char byte = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 || pipe2(wire, O_CLOEXEC) < 0)
        abort();
    EQ(fd_pass_send(ends[0], SLICE("bare"), -1), 4);
    EQ(receive(ends[1], &text), -1);
    OK(slice_is(text, "bare"));
    EQ(fd_pass_send(ends[0], SLICE("with"), wire[1]), 4);
    got = receive(ends[1], &text);
    OK(slice_is(text, "with"));
    OK(got >= 0 && write(got, "x", 1) == 1 && read(wire[0], &byte, 1) == 1 && byte == 'x');
    close(got);
    close(ends[1]);
    EQ(fd_pass_send(ends[0], SLICE("nobody"), -1), -1); /* and no SIGPIPE */
    close(ends[0]);
    close(wire[0]);
    close(wire[1]);
    return tap_done();
}
