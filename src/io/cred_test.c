/* cred_test.c - the owner of a connection's other end, also when it belongs to somebody else. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/cred.h"
#include "io/holder.h"
#include "tests/tap.h"

static int listen_on(int family, struct sockaddr_storage *at, socklen_t *len)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *at = (struct sockaddr_storage){ .ss_family = (sa_family_t)family };
    if (family == AF_INET)
        ((struct sockaddr_in *)(void *)at)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    else
        ((struct sockaddr_in6 *)(void *)at)->sin6_addr = in6addr_loopback;
    *len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    if (bind(fd, (struct sockaddr *)at, *len) < 0 || listen(fd, 4) < 0)
        return -1;
    getsockname(fd, (struct sockaddr *)at, len);
    return fd;
}

/* Connects as uid, then waits until we close. */
static pid_t connect_as(uid_t uid, const struct sockaddr_storage *to, socklen_t len)
{
    pid_t pid = fork();
    char c;

    if (pid == 0) {
        int fd;
        if (uid != getuid() && setuid(uid) < 0)
            _exit(2);
        fd = socket(to->ss_family, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)to, len) < 0)
            _exit(3);
        _exit(read(fd, &c, 1) == 0 ? 0 : 4);
    }
    return pid;
}

static void test_tcp(int family, uid_t uid)
{
    struct sockaddr_storage at;
    socklen_t len;
    uid_t seen = 12345;
    ino_t inode = 0;
    int status, listener = listen_on(family, &at, &len), fd;
    pid_t pid;

    if (listener < 0 && family == AF_INET6) {
        OK_F(errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT, "no IPv6 on this machine");
        return;
    }
    pid = connect_as(uid, &at, len);
    fd = accept(listener, NULL, NULL);
    OK_F(cred_peer_uid(fd, &seen) == 0 && seen == uid, "family %d: the peer is user %u, seen %u",
         family, uid, seen);
    OK(cred_peer_socket(fd, &inode) == 0 && inode != 0);
    OK_F(holder_is_below(pid, inode), "the child holds it");
    OK_F(holder_is_below(getpid(), inode), "so something that came from us does");
    OK_F(!holder_is_below(pid, (ino_t)-1) && !holder_is_below(getpid(), (ino_t)-1),
         "and nobody holds another one");
    close(fd);
    waitpid(pid, &status, 0);
    EQ(status, 0);
    OK(!holder_is_below(getpid(), inode) && !holder_is_below(pid, inode));
    close(listener);
}

int main(void)
{
    int pair[2];
    uid_t uid = 12345;

    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    OK(cred_peer_uid(pair[0], &uid) == 0 && uid == getuid());
    close(pair[0]);
    close(pair[1]);
    test_tcp(AF_INET, getuid());
    test_tcp(AF_INET6, getuid());
    if (getuid() == 0) { /* only root can be somebody else */
        test_tcp(AF_INET, 65534);
        test_tcp(AF_INET6, 65534);
    }
    OK(cred_peer_uid(-1, &uid) == -EBADF);
    return tap_done();
}
