/* server_port_test.c - a server that had no descriptor for a new connection for a moment accepts
 * it afterwards, though none of its connections is closed in between. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "pmix_server.h"
#include "tests/tap.h"

enum { MOST = 256 };

/* The address of this process's listening socket. */
static bool find_port(struct sockaddr_in *at)
{
    for (int fd = 3; fd < MOST; fd++) {
        socklen_t len = sizeof(int), size = sizeof *at;
        int listens = 0;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens &&
            getsockname(fd, (struct sockaddr *)at, &size) == 0 && at->sin_family == AF_INET)
            return true;
    }
    return false;
}

static int new_socket(void)
{
    struct timeval net = { .tv_sec = 30 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &net, sizeof net);
    return fd;
}

/* True if the server reads the invalid greeting, and closes. */
static bool is_heard(int fd)
{
    static const char words[] = "GET / HTTP/1.0\r\n\r\n";
    char byte;
    ssize_t n = send(fd, words, sizeof words - 1, MSG_NOSIGNAL);

    do
        n = recv(fd, &byte, 1, 0);
    while (n > 0);
    return n == 0 || errno == ECONNRESET;
}

static bool call(int fd, const struct sockaddr_in *at)
{
    return connect(fd, (const struct sockaddr *)at, sizeof *at) == 0;
}

int main(void)
{
    const struct rlimit few = { MOST, MOST };
    static pmix_server_module_t module;
    struct sockaddr_in at = { .sin_family = AF_INET };
    int taken[MOST], ntaken = 0, fd, early, late;

    if (setrlimit(RLIMIT_NOFILE, &few) < 0 || unsetenv("PMIX_NAMESPACE") < 0)
        return 1;
    OK(PMIx_server_init(&module, NULL, 0) == PMIX_SUCCESS && find_port(&at));
    fd = new_socket();
    OK_F(call(fd, &at) && is_heard(fd), "a caller is heard");
    close(fd);

    early = new_socket();
    late = new_socket();
    while (ntaken < MOST && (fd = dup(0)) >= 0)
        taken[ntaken++] = fd;
    OK(errno == EMFILE && call(early, &at));
    poll(NULL, 0,
         100); /* so that the server notices the lack of descriptors; if not, this proves less */
    while (ntaken > 0)
        close(taken[--ntaken]);
    OK_F(is_heard(early), "who came without a descriptor left is heard once there is one");
    OK_F(call(late, &at) && is_heard(late), "and so is the next one");
    close(early);
    close(late);
    OK(PMIx_server_finalize() == PMIX_SUCCESS);
    return tap_done();
}
