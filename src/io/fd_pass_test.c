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
    int got = -2;
    ssize_t n = fd_pass_receive(fd, text, sizeof text, &got);

    *text_p = slice_mem(text, n > 0 ? (size_t)n : 0);
    return got;
}

/* Two descriptors with one byte. */
static void send_two(int fd, int one, int other)
{
    const int both[] = { one, other };
    union {
        char bytes[CMSG_SPACE(sizeof both)];
        struct cmsghdr align;
    } control = { { 0 } };
    struct iovec iov = { (char[]){ 'x' }, 1 };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof control.bytes };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof both);
    memcpy(CMSG_DATA(c), both, sizeof both);
    EQ(sendmsg(fd, &m, 0), 1);
}

/* The lowest one that is free. */
static int next_fd(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

int main(void)
{
    int ends[2], wire[2], got, next;
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
    OK((fcntl(got, F_GETFD) & FD_CLOEXEC) != 0);
    close(got);
    next = next_fd();
    send_two(ends[0], wire[0], wire[1]);
    got = receive(ends[1], &text);
    OK(got >= 0);
    close(got);
    EQ(next_fd(), next); /* the other one is closed */
    EQ(receive(ends[1], &text), -1);
    EQ((int)text.len, 0);
    close(ends[1]);
    EQ(fd_pass_send(ends[0], SLICE("nobody"), -1), -1); /* and no SIGPIPE */
    close(ends[0]);
    close(wire[0]);
    close(wire[1]);
    return tap_done();
}
