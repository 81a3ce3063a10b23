/* link_test.c - a length and its message take one system call, however the bytes come. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/common/link.h"
#include "tests/tap.h"

static struct link ours;
static int theirs;

static void open_pair(void)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
        link_open_own_fd(&ours, pair[0]) < 0)
        _exit(99);
    theirs = pair[1];
}

static void close_pair(void)
{
    link_close(&ours);
    close(theirs);
}

static void peer_sends(const void *bytes, size_t len)
{
    if (write(theirs, bytes, len) != (ssize_t)len)
        _exit(99);
}

static bool next_is(const char *want)
{
    struct slice got;

    return link_bytes(&ours, strlen(want), &got) == 0 && slice_is(got, want);
}

static int unread(void)
{
    int n = -1;

    return ioctl(ours.fd, FIONREAD, &n) == 0 ? n : -1;
}

static void length_and_message(void)
{
    open_pair();
    peer_sends("5     hello6     ", 17);
    OK(next_is("5     "));
    EQ(unread(), 0);
    OK(next_is("hello"));
    OK(next_is("6     "));
    peer_sends("answer", 6);
    OK(next_is("answer"));
    close_pair();
}

static void more_than_a_step(void)
{
    static char much[20000];
    struct slice got;

    open_pair();
    memset(much, 'x', sizeof much);
    peer_sends(much, sizeof much);
    OK(link_bytes(&ours, sizeof much, &got) == 0 && got.len == sizeof much &&
       !memcmp(got.ptr, much, sizeof much));
    EQ(unread(), 0);
    close_pair();
}

static void end_within(void)
{
    struct slice got;

    open_pair();
    peer_sends("5     hel", 9);
    shutdown(theirs, SHUT_WR);
    OK(next_is("5     "));
    EQ(link_bytes(&ours, 5, &got), -EPIPE);
    EQ(link_bytes(&ours, 3, &got), -EPIPE);
    close_pair();
}

int main(void)
{
    length_and_message();
    more_than_a_step();
    end_within();
    return tap_done();
}
