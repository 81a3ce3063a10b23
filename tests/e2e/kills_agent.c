/* kills_agent.c - the launcher's side of seeded.py's remote shell: called as ssh is (HOST
 * COMMAND...), it hands its three streams and its words to the driver, which runs the command on
 * that host, and ends with the command's status.  So who is killed here does not end what runs
 * there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(3 * sizeof(int))];
    } control = { .head = { .cmsg_len = CMSG_LEN(3 * sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS } };
    const int fds[] = { 0, 1, 2 };
    const char *path = getenv("KILLS_SHELL");
    char words[8192] = "";
    size_t n = 0;
    unsigned char status = 255;
    struct iovec part = { words, 0 };
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    for (int i = 1; i < argc && n < sizeof words; i++)
        n +=
            (size_t)snprintf(words + n, sizeof words - n, "%s%c", argv[i], i + 1 < argc ? '\n' : 0);
    if (!path || strlen(path) >= sizeof to.sun_path || n >= sizeof words)
        return 255;
    strcpy(to.sun_path, path);
    part.iov_len = n;
    memcpy(CMSG_DATA(&control.head), fds, sizeof fds);
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) < 0 ||
        sendmsg(s, &m, 0) != (ssize_t)n)
        return 255;
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    if (read(s, &status, 1) != 1)
        return 255;
    return status;
}
