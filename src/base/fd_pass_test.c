/* fd_pass_test.c - bytes that arrive, and descriptors that arrive with them: which one is kept, and that all others are
 * closed. */
#include "base/fd_pass.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/tap.h"

enum { MOST = 253 /* the kernel passes no more with one message */, FDS_END = 1024 };

static unsigned count_open(void)
{
    unsigned n = 0;

    for (int fd = 0; fd < FDS_END; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Sends one byte with n descriptors, which are copies of fd. */
static void send_copies(int to, int fd, size_t n)
{
    union {
        char bytes[CMSG_SPACE(MOST * sizeof(int))];
        struct cmsghdr align;
    } control = { { 0 } };
    struct iovec iov = { (char[]){ 'x' }, 1 };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = CMSG_SPACE(n * sizeof fd) };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    *c = (struct cmsghdr){ CMSG_LEN(n * sizeof fd), SOL_SOCKET, SCM_RIGHTS };
    for (size_t i = 0; i < n; i++)
        memcpy(CMSG_DATA(c) + i * sizeof fd, &fd, sizeof fd);
    EQ(sendmsg(to, &m, 0), 1);
}

/* Receives at most 64 bytes; the descriptor, or -1. */
static int receive(int fd, struct slice *text_p)
{
    static char text[64];
    int got = -1;
    ssize_t n = fd_pass_receive(fd, text, sizeof text, MSG_DONTWAIT, &got);

    *text_p = slice_mem(text, n > 0 ? (size_t)n : 0);
    return got;
}

/* ---- one descriptor -------------------------------------------------------------------------- */

static void test_bytes(const int *ends)
{
    unsigned before = count_open();
    struct slice text;

    EQ(fd_pass_send(ends[0], SLICE("bare"), -1), 4);
    EQ(receive(ends[1], &text), -1);
    OK(slice_is(text, "bare"));
    EQ(receive(ends[1], &text), -1); /* nothing is there */
    OK(errno == EAGAIN && text.len == 0);
    EQ(count_open(), before);
}

static void test_one(const int *ends, const int *wire)
{
    struct slice text;
    char byte = 0;
    int got;

    EQ(fd_pass_send(ends[0], SLICE("with"), wire[1]), 4);
    got = receive(ends[1], &text);
    OK(slice_is(text, "with"));
    OK(got >= 0 && write(got, "x", 1) == 1 && read(wire[0], &byte, 1) == 1 && byte == 'x');
    OK((fcntl(got, F_GETFD) & FD_CLOEXEC) != 0);
    close(got);
}

/* One that came with an earlier message is not lost. */
static void test_held(const int *ends, int fd)
{
    unsigned before = count_open();
    int held = dup(fd), passed = held;
    char byte;

    send_copies(ends[0], fd, 2);
    EQ(fd_pass_receive(ends[1], &byte, 1, 0, &passed), 1);
    EQ(passed, held);
    EQ(count_open(), before + 1);
    close(held);
}

static void test_no_socket(const int *wire)
{
    int passed = -1;
    char byte;

    EQ(fd_pass_receive(wire[0], &byte, 1, 0, &passed), -1);
    OK(errno == ENOTSOCK && passed == -1);
}

/* ---- several with one message ---------------------------------------------------------------- */

/* Up to more than there is room for, which the kernel cuts. */
static void test_many(const int *ends, int fd)
{
    static const size_t counts[] = { 2, 3, 4, 9, 50, MOST };
    unsigned before = count_open();
    struct slice text;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int got;
        send_copies(ends[0], fd, counts[i]);
        got = receive(ends[1], &text);
        OK_F(got >= 0 && count_open() == before + 1, "of %zu descriptors one is kept", counts[i]);
        close(got);
        EQ(count_open(), before);
    }
}

/* They come first, and there is room for a descriptor after them. */
static void test_credentials(const int *ends, int fd)
{
    static const size_t counts[] = { 1, 2, MOST };
    unsigned before = count_open();
    struct slice text;
    int on = 1, off = 0;

    setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    EQ(fd_pass_send(ends[0], SLICE("bare"), -1), 4);
    EQ(receive(ends[1], &text), -1);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int got;
        send_copies(ends[0], fd, counts[i]);
        got = receive(ends[1], &text);
        OK_F(got >= 0 && count_open() == before + 1,
             "of %zu descriptors beside credentials one is kept", counts[i]);
        close(got);
    }
    setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &off, sizeof off);
}

/* ---- messages of any shape ------------------------------------------------------------------- */

struct composed {
    union {
        char bytes[1024];
        struct cmsghdr align;
    } control;
    struct msghdr m;
};

/* Appends a control message with `bytes` bytes. */
static void add(struct composed *c, int type, const void *data, size_t bytes)
{
    struct cmsghdr head = { CMSG_LEN(bytes), SOL_SOCKET, type };
    char *at = c->control.bytes + c->m.msg_controllen;

    memcpy(at, &head, sizeof head);
    memcpy(at + CMSG_LEN(0), data, bytes);
    c->m.msg_control = c->control.bytes;
    c->m.msg_controllen += CMSG_SPACE(bytes);
}

/* Descriptors in three control messages, with credentials before and between them, and half of a
 * number at the end. */
static void compose(struct composed *c, const int *fds)
{
    struct ucred me = { getpid(), getuid(), getgid() };

    *c = (struct composed){ .m = { .msg_controllen = 0 } };
    add(c, SCM_CREDENTIALS, &me, sizeof me);
    add(c, SCM_RIGHTS, fds, sizeof *fds);
    add(c, SCM_RIGHTS, fds, 0);
    add(c, SCM_CREDENTIALS, &me, sizeof me);
    add(c, SCM_RIGHTS, fds + 1, 2 * sizeof *fds);
    add(c, SCM_RIGHTS, fds + 3, sizeof *fds + 2);
}

/* The first `room` of four are stored, in their order. */
static void test_several_messages(int fd)
{
    for (size_t room = 0; room <= 5; room++) {
        unsigned before = count_open(), n = room < 4 ? (unsigned)room : 4;
        int sent[5] = { dup(fd), dup(fd), dup(fd), dup(fd), -1 }, got[5] = { -1, -1, -1, -1, -1 };
        struct composed c;
        compose(&c, sent);
        EQ(fd_pass_take(&c.m, got, room), n);
        EQ(count_open(), before + n);
        OK_F(!memcmp(got, sent, n * sizeof *got) && got[n < 5 ? n : 4] == -1,
             "with room for %zu, %u of 4", room, n);
        for (unsigned i = 0; i < n; i++)
            close(got[i]);
    }
}

static void test_no_control(void)
{
    struct msghdr m = { .msg_control = NULL };
    int fd = -1;

    EQ(fd_pass_take(&m, &fd, 1), 0);
    EQ(fd, -1);
}

/* The reader's own room is too small: what the kernel has passed before it cut is taken. */
static void test_cut(const int *ends, int fd)
{
    union {
        char bytes[CMSG_LEN(2 * sizeof(int))];
        struct cmsghdr align;
    } control;
    char byte;
    struct iovec iov = { &byte, 1 };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = CMSG_LEN(2 * sizeof(int)) };
    unsigned before = count_open();
    int got[3] = { -1, -1, -1 };

    send_copies(ends[0], fd, 5);
    EQ(recvmsg(ends[1], &m, MSG_CMSG_CLOEXEC), 1);
    OK((m.msg_flags & MSG_CTRUNC) != 0);
    EQ(fd_pass_take(&m, got, 3), 2);
    OK(got[0] >= 0 && got[1] >= 0 && got[2] == -1);
    EQ(count_open(), before + 2);
    close(got[0]);
    close(got[1]);
}

int main(void)
{
    int ends[2], wire[2], got;
    struct slice text;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 || pipe2(wire, O_CLOEXEC) < 0)
        abort();
    test_bytes(ends);
    test_one(ends, wire);
    test_held(ends, wire[0]);
    test_no_socket(wire);
    test_many(ends, wire[0]);
    test_credentials(ends, wire[0]);
    test_several_messages(wire[0]);
    test_no_control();
    test_cut(ends, wire[0]);
    got = receive(ends[1], &text);
    OK(got == -1 && text.len == 0);
    close(ends[1]);
    EQ(fd_pass_send(ends[0], SLICE("nobody"), -1), -1); /* and no SIGPIPE */
    close(ends[0]);
    close(wire[0]);
    close(wire[1]);
    return tap_done();
}
