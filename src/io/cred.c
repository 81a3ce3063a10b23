/* cred.c - see cred.h.  TCP: one exact question to the kernel's socket diagnostics; where these are
 * not available, the table in /proc. */
#include "io/cred.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The connection as its other end sees it: its own address is our peer. */
struct ends {
    int family;
    uint16_t own_port, far_port; /* network order */
    uint32_t own[4], far[4];
};

static int split(const struct sockaddr_storage *a, int *family_p, uint16_t *port_p, uint32_t *addr)
{
    memset(addr, 0, 4 * sizeof *addr);
    *family_p = a->ss_family;
    if (a->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)a;
        *port_p = in->sin_port;
        memcpy(addr, &in->sin_addr, sizeof in->sin_addr);
        return 0;
    }
    if (a->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)a;
        *port_p = in->sin6_port;
        memcpy(addr, &in->sin6_addr, sizeof in->sin6_addr);
        return 0;
    }
    return -EAFNOSUPPORT;
}

static int read_ends(int fd, struct ends *e)
{
    struct sockaddr_storage peer, self;
    socklen_t peer_len = sizeof peer, self_len = sizeof self;
    int family, rc;

    if (getpeername(fd, (struct sockaddr *)&peer, &peer_len) < 0 ||
        getsockname(fd, (struct sockaddr *)&self, &self_len) < 0)
        return -errno;
    rc = split(&peer, &e->family, &e->own_port, e->own);
    return rc < 0 ? rc : split(&self, &family, &e->far_port, e->far);
}

struct owner {
    uid_t uid;
    ino_t inode;
};

/* ---- socket diagnostics ---------------------------------------------------------------------- */

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

static void ask_about(const struct ends *e, struct question *q)
{
    memset(q, 0, sizeof *q);
    q->head.nlmsg_len = sizeof *q;
    q->head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    q->head.nlmsg_flags = NLM_F_REQUEST;
    q->body.sdiag_family = (unsigned char)e->family;
    q->body.sdiag_protocol = IPPROTO_TCP;
    q->body.idiag_states = ~0U;
    q->body.id.idiag_sport = e->own_port;
    q->body.id.idiag_dport = e->far_port;
    memcpy(q->body.id.idiag_src, e->own, sizeof e->own);
    memcpy(q->body.id.idiag_dst, e->far, sizeof e->far);
    q->body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
    q->body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
}

static int read_reply(const char *bytes, size_t n, struct owner *o)
{
    const struct nlmsghdr *h = (const void *)bytes;
    const struct inet_diag_msg *m;

    if (n < sizeof *h)
        return -EPROTO;
    if (h->nlmsg_type == NLMSG_ERROR && n >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
        return ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
    if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || n < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return -EPROTO;
    m = NLMSG_DATA(h);
    *o = (struct owner){ m->idiag_uid, m->idiag_inode };
    return 0;
}

static int ask_kernel(const struct ends *e, struct owner *o)
{
    _Alignas(struct nlmsghdr) char reply[4096];
    struct question q;
    ssize_t n;
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int rc;

    if (fd < 0)
        return -errno;
    ask_about(e, &q);
    n = send(fd, &q, sizeof q, 0) < 0 ? -1 : recv(fd, reply, sizeof reply, 0);
    rc = n < 0 ? -errno : read_reply(reply, (size_t)n, o);
    close(fd);
    return rc;
}

/* ---- /proc/net/tcp --------------------------------------------------------------------------- */

static bool match_line(const char *line, const struct ends *e, struct owner *o)
{
    unsigned own, own_port, far, far_port, uid;
    unsigned long inode;

    if (sscanf(line, " %*u: %8X:%4X %8X:%4X %*X %*X:%*X %*X:%*X %*X %u %*u %lu", &own, &own_port,
               &far, &far_port, &uid, &inode) != 6 ||
        own != e->own[0] || far != e->far[0] || htons((uint16_t)own_port) != e->own_port ||
        htons((uint16_t)far_port) != e->far_port)
        return false;
    *o = (struct owner){ uid, inode };
    return true;
}

static int read_table(const struct ends *e, struct owner *o)
{
    char line[256];
    int rc = -ENOENT;
    FILE *f;

    if (e->family != AF_INET)
        return -EAFNOSUPPORT;
    f = fopen("/proc/net/tcp", "re");
    if (!f)
        return -errno;
    while (rc != 0 && fgets(line, sizeof line, f)) {
        if (match_line(line, e, o))
            rc = 0;
    }
    fclose(f);
    return rc;
}

static int tcp_owner(int fd, struct owner *o)
{
    struct ends e;
    int rc = read_ends(fd, &e);

    if (rc < 0)
        return rc;
    rc = ask_kernel(&e, o);
    return rc < 0 && rc != -ENOENT ? read_table(&e, o) : rc;
}

int cred_peer_socket(int fd, ino_t *inode_p)
{
    struct owner o;
    int rc = tcp_owner(fd, &o);

    if (rc == 0)
        *inode_p = o.inode;
    return rc;
}

int cred_peer_uid(int fd, uid_t *uid_p)
{
    struct ucred who;
    int family = 0, rc;
    socklen_t len = sizeof family;
    struct owner o;

    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) < 0)
        return -errno;
    len = sizeof who;
    if (family == AF_UNIX) {
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
            return -errno;
        *uid_p = who.uid;
        return 0;
    }
    rc = tcp_owner(fd, &o);
    if (rc == 0)
        *uid_p = o.uid;
    return rc;
}
