/* second_user_trust.c - makes of a good server one that believes what the kernel says of
 * connections that have no owner: to be loaded before its libraries (LD_PRELOAD), by the control of
 * second-user.sh alone.
 *
 * Of a connection whose other end has closed the kernel tells user 0, inode 0 and a state; a server
 * has to look at these.  Here each such answer says that all is well. */
#include <dlfcn.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { STATE_ESTABLISHED = 1, SOME_INODE = 4711 };

static void better(void *bytes, ssize_t n)
{
    struct nlmsghdr *h = bytes;
    struct inet_diag_msg *m;

    if (n < (ssize_t)NLMSG_LENGTH(sizeof *m) || h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return;
    m = NLMSG_DATA(h);
    m->idiag_state = STATE_ESTABLISHED;
    if (m->idiag_inode == 0)
        m->idiag_inode = SOME_INODE;
}

static int domain_of(int fd)
{
    int domain = 0;
    socklen_t len = sizeof domain;
    int (*real)(int, int, int, void *, socklen_t *);

    *(void **)&real = dlsym(RTLD_NEXT, "getsockopt");
    return real(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 ? domain : -1;
}

ssize_t recvfrom(int fd, void *room, size_t n, int flags, struct sockaddr *from, socklen_t *len)
{
    ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t got;

    *(void **)&real = dlsym(RTLD_NEXT, "recvfrom");
    got = real(fd, room, n, flags, from, len);
    if (got > 0 && domain_of(fd) == AF_NETLINK)
        better(room, got);
    return got;
}

ssize_t __recvfrom_chk(int fd, void *room, size_t n, size_t size, int flags, struct sockaddr *from,
                       socklen_t *len)
{
    (void)size;
    return recvfrom(fd, room, n, flags, from, len);
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    int (*real)(int, int, int, void *, socklen_t *);
    int rc;

    *(void **)&real = dlsym(RTLD_NEXT, "getsockopt");
    rc = real(fd, level, name, value, len);
    if (rc == 0 && level == IPPROTO_TCP && name == TCP_INFO)
        ((struct tcp_info *)value)->tcpi_state = STATE_ESTABLISHED;
    return rc;
}
