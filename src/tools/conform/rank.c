/* rank.c - see rank.h. */
#include "tools/conform/rank.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd_pass.h"
#include "tools/conform/post.h"

extern char **environ;

/* The variables of all releases, the newest first: any of them names the same server. */
static const char *const addresses[] = { "PMIX_SERVER_URI61", "PMIX_SERVER_URI51",
                                         "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                                         "PMIX_SERVER_URI3",  "PMIX_SERVER_URI21",
                                         "PMIX_SERVER_URI2" };

/* "HOST:PORT" and no more. */
static bool read_address(struct slice text, char *host, size_t room, uint16_t *port_p)
{
    size_t colon = slice_find(text, ':'), end = colon + 1;
    uint32_t port;

    while (end < text.len && text.ptr[end] >= '0' && text.ptr[end] <= '9')
        end++;
    if (colon >= room || !slice_u32(slice_skip(slice_head(text, end), colon + 1), &port) ||
        port > UINT16_MAX)
        return false;
    snprintf(host, room, SLICE_FMT, SLICE_ARG(slice_head(text, colon)));
    *port_p = (uint16_t)port;
    return true;
}

bool rank_address(enum transcript_way way, const char *(*env)(const void *arg, const char *name),
                  const void *arg, char *host, size_t room, uint16_t *port_p)
{
    const char *text = way == WAY_PORT ? env(arg, "PMI_PORT") : NULL;

    if (way != WAY_PMIX)
        return text && read_address(slice_str(text), host, room, port_p);
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        const char *uri = env(arg, addresses[i]), *at = uri ? strstr(uri, "tcp4://") : NULL;
        if (at && read_address(slice_str(at + 7), host, room, port_p))
            return true;
    }
    return false;
}

int rank_connect(const char *host, uint16_t port)
{
    struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *list;
    char service[16];
    int fd;

    snprintf(service, sizeof service, "%u", port);
    if (getaddrinfo(host, service, &hints, &list) != 0)
        return -1;
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, list->ai_addr, list->ai_addrlen) < 0) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(list);
    return fd;
}

/* The variables of the process manager, for which one message has room. */
static void put_environment(struct buf *out)
{
    for (char **e = environ; *e; e++) {
        if ((!strncmp(*e, "PMI", 3)) && strlen(*e) < 4096)
            buf_put(out, *e, strlen(*e) + 1);
    }
    buf_byte(out, '\0');
}

int rank_run(const char *name)
{
    const char *inherited = getenv("PMI_FD");
    struct buf env = BUF_NULL(60000);
    int fd = post_connect(name);
    char byte;
    ssize_t n;

    put_environment(&env);
    if (fd < 0 || !buf_ok(&env))
        return 1;
    n = fd_pass_send(fd, buf_slice(&env), inherited ? atoi(inherited) : -1);
    buf_free(&env);
    while (n > 0) {
        n = read(fd, &byte, 1);
        if (n < 0 && errno == EINTR)
            n = 1;
    }
    close(fd);
    return 0;
}
