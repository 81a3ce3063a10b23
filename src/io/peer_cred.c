/* peer_cred.c - see peer_cred.h.  TCP: one exact query to the kernel's socket diagnostics; if these
 * are not available, the tables in /proc.  Reading order: ends; diagnostics; tables; the answer;
 * processes; messages.
 */
#include "io/peer_cred.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd_pass.h"
#include "base/slice.h"
#include "io/socket_owner.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

enum { DEFAULT_OVERFLOW_ID = 65534, ADDRESS_SIZE = sizeof(struct in6_addr) };

#define UNREAD UINT_MAX /* the kernel's ids for users without one have 16 bits */

/* ---- ends ------------------------------------------------------------------------------------ */

/* IPv4 is stored as IPv4-mapped IPv6 (::ffff:a.b.c.d), since either kind of socket may use it. */
struct end {
    unsigned char address[ADDRESS_SIZE];
    uint16_t port; /* network order */
};

/* The connection as its other end sees it: its local address is our peer address. */
struct ends {
    struct end own, peer;
};

struct owner {
    uid_t uid;
    uint64_t inode;
    unsigned state;
};

static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

static void put_v4(struct end *e, const void *address)
{
    memcpy(e->address, mapped, sizeof mapped);
    memcpy(e->address + sizeof mapped, address, ADDRESS_SIZE - sizeof mapped);
}

static bool is_v4(const struct end *e)
{
    return !memcmp(e->address, mapped, sizeof mapped);
}

static int read_end(const struct sockaddr_storage *a, struct end *e)
{
    if (a->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const void *)a;
        e->port = in->sin_port;
        put_v4(e, &in->sin_addr);
        return 0;
    }
    if (a->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in = (const void *)a;
        e->port = in->sin6_port;
        memcpy(e->address, &in->sin6_addr, ADDRESS_SIZE);
        return 0;
    }
    return -EAFNOSUPPORT;
}

static int read_ends(int fd, struct ends *e)
{
    struct sockaddr_storage peer, self;
    socklen_t peer_len = sizeof peer, self_len = sizeof self;
    int rc;

    if (getpeername(fd, (struct sockaddr *)&peer, &peer_len) < 0 ||
        getsockname(fd, (struct sockaddr *)&self, &self_len) < 0)
        return errno == ENOTCONN ? -ENOENT : -errno;
    rc = read_end(&peer, &e->own);
    return rc < 0 ? rc : read_end(&self, &e->peer);
}

static bool same_end(const struct end *a, const struct end *b)
{
    return a->port == b->port && !memcmp(a->address, b->address, ADDRESS_SIZE);
}

static bool same_ends(const struct ends *a, const struct ends *b)
{
    return same_end(&a->own, &b->own) && same_end(&a->peer, &b->peer);
}

/* ---- socket diagnostics ---------------------------------------------------------------------- */

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

enum { QUESTION_NUMBER = 0x57495245 };

static void put_address(void *room, const struct end *e, bool v4)
{
    if (v4)
        memcpy(room, e->address + sizeof mapped, ADDRESS_SIZE - sizeof mapped);
    else
        memcpy(room, e->address, ADDRESS_SIZE);
}

static void ask_about(const struct ends *e, struct question *q)
{
    bool v4 = is_v4(&e->own) && is_v4(&e->peer);

    memset(q, 0, sizeof *q);
    q->head.nlmsg_len = sizeof *q;
    q->head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    q->head.nlmsg_flags = NLM_F_REQUEST;
    q->head.nlmsg_seq = QUESTION_NUMBER;
    q->body.sdiag_family = v4 ? AF_INET : AF_INET6;
    q->body.sdiag_protocol = IPPROTO_TCP;
    q->body.idiag_states = 1U << TCP_ESTABLISHED;
    q->body.id.idiag_sport = e->own.port;
    q->body.id.idiag_dport = e->peer.port;
    put_address(q->body.id.idiag_src, &e->own, v4);
    put_address(q->body.id.idiag_dst, &e->peer, v4);
    q->body.id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
    q->body.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
}

/* An IPv6 socket that speaks IPv4 is reported as IPv6. */
static int read_peer_cred(const struct inet_diag_msg *m, struct ends *e)
{
    e->own.port = m->id.idiag_sport;
    e->peer.port = m->id.idiag_dport;
    if (m->idiag_family == AF_INET) {
        put_v4(&e->own, m->id.idiag_src);
        put_v4(&e->peer, m->id.idiag_dst);
    } else if (m->idiag_family == AF_INET6) {
        memcpy(e->own.address, m->id.idiag_src, ADDRESS_SIZE);
        memcpy(e->peer.address, m->id.idiag_dst, ADDRESS_SIZE);
    } else {
        return -EPROTO;
    }
    return 0;
}

/* Without a connected socket the kernel reports the listener there. */
static int read_reply(const char *bytes, size_t n, const struct ends *e, struct owner *o)
{
    const struct nlmsghdr *h = (const void *)bytes;
    const struct inet_diag_msg *m;
    struct ends found;
    int rc;

    if (n < sizeof *h || h->nlmsg_len > n || h->nlmsg_seq != QUESTION_NUMBER)
        return -EPROTO;
    if (h->nlmsg_type == NLMSG_ERROR && h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        rc = ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
        return rc < 0 ? rc : -EPROTO;
    }
    if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        h->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return -EPROTO;
    m = NLMSG_DATA(h);
    rc = read_peer_cred(m, &found);
    if (rc < 0)
        return rc;
    if (!same_ends(&found, e))
        return -ENOENT;
    *o = (struct owner){ m->idiag_uid, m->idiag_inode, m->idiag_state };
    return 0;
}

/* The query covers this process's network namespace; the connection may have been made in another
 * one. (Kernels before 5.14 cannot tell.) */
static bool same_network(int a, int b)
{
    uint64_t x = 0, y = 0;
    socklen_t x_len = sizeof x, y_len = sizeof y;

    return getsockopt(a, SOL_SOCKET, SO_NETNS_COOKIE, &x, &x_len) < 0 ||
           getsockopt(b, SOL_SOCKET, SO_NETNS_COOKIE, &y, &y_len) < 0 || x == y;
}

/* Only replies of the kernel itself (port 0) are accepted. */
static ssize_t read_kernel(int netlink, void *room, size_t size)
{
    struct sockaddr_nl from = { .nl_family = AF_UNSPEC };
    socklen_t len = sizeof from;
    ssize_t n;

    do {
        n = recvfrom(netlink, room, size, MSG_DONTWAIT, (struct sockaddr *)&from, &len);
    } while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return len >= sizeof from && from.nl_family == AF_NETLINK && from.nl_pid == 0 ? n : -EPROTO;
}

static int ask_kernel(int fd, const struct ends *e, struct owner *o)
{
    _Alignas(struct nlmsghdr) char reply[4096];
    struct question q;
    ssize_t n;
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int rc;

    if (netlink < 0)
        return -errno;
    ask_about(e, &q);
    if (!same_network(fd, netlink)) {
        close(netlink);
        return -ENOENT;
    }
    n = send(netlink, &q, sizeof q, 0) < 0 ? -errno : read_kernel(netlink, reply, sizeof reply);
    rc = n < 0 ? (int)n : read_reply(reply, (size_t)n, e, o);
    close(netlink);
    return rc;
}

/* ---- the tables in /proc --------------------------------------------------------------------- */

/* Words of four bytes, each as a number in host byte order. */
static bool read_address(const char *text, size_t digits, struct end *e)
{
    uint32_t words[4];
    size_t n = digits / 8;

    for (size_t i = 0; i < n; i++) {
        unsigned word;
        if (sscanf(text + 8 * i, "%8X", &word) != 1)
            return false;
        words[i] = word;
    }
    if (n == 1)
        put_v4(e, words);
    else
        memcpy(e->address, words, ADDRESS_SIZE);
    return n == 1 || n == 4;
}

static bool match_line(const char *line, const struct ends *e, struct owner *o)
{
    char own[40], peer[40];
    unsigned own_port, peer_port, uid, state;
    unsigned long long inode;
    struct ends found;

    if (sscanf(line, " %*u: %32[0-9A-F]:%4X %32[0-9A-F]:%4X %2X %*X:%*X %*X:%*X %*X %u %*u %llu",
               own, &own_port, peer, &peer_port, &state, &uid, &inode) != 7 ||
        strlen(own) != strlen(peer) || !read_address(own, strlen(own), &found.own) ||
        !read_address(peer, strlen(peer), &found.peer))
        return false;
    found.own.port = htons((uint16_t)own_port);
    found.peer.port = htons((uint16_t)peer_port);
    if (!same_ends(&found, e))
        return false;
    *o = (struct owner){ uid, inode, state };
    return true;
}

static int read_table(const char *path, const struct ends *e, struct owner *o)
{
    char line[512];
    int rc = -ENOENT;
    FILE *f = fopen(path, "re");

    if (!f)
        return -errno;
    while (rc != 0 && fgets(line, sizeof line, f)) {
        if (match_line(line, e, o))
            rc = 0;
    }
    fclose(f);
    return rc;
}

static int read_tables(const struct ends *e, struct owner *o)
{
    int rc = is_v4(&e->own) ? read_table("/proc/net/tcp", e, o) : -ENOENT;

    return rc == 0 ? 0 : read_table("/proc/net/tcp6", e, o);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static bool is_connected(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof info;

    memset(&info, 0, sizeof info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
           info.tcpi_state == TCP_ESTABLISHED;
}

static unsigned read_overflow_id(const char *path)
{
    char text[24];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
    struct slice line = slice_mem(text, n > 0 ? (size_t)n : 0);
    uint32_t id;

    if (fd >= 0)
        close(fd);
    return slice_u32(slice_cut(&line, '\n'), &id) ? id : DEFAULT_OVERFLOW_ID;
}

/* Read for the first connection only: it is the machine's, whatever name space a process enters. */
static unsigned overflow_id(const char *path, atomic_uint *known)
{
    unsigned id = atomic_load(known);

    if (id == UNREAD) {
        id = read_overflow_id(path);
        atomic_store(known, id);
    }
    return id;
}

/* If the namespace maps all ids, no id stands for others. */
static bool has_all_ids(const char *path)
{
    unsigned long long inside, outside, count;
    FILE *f = fopen(path, "re");
    bool all = f && fscanf(f, "%llu %llu %llu", &inside, &outside, &count) == 3 && inside == 0 &&
               count >= UINT32_MAX;

    if (f)
        fclose(f);
    return all;
}

bool peer_cred_is_overflow(uid_t uid)
{
    static atomic_uint known = UNREAD;

    return uid == (uid_t)-1 || (uid == overflow_id("/proc/sys/kernel/overflowuid", &known) &&
                                !has_all_ids("/proc/self/uid_map"));
}

static bool is_overflow_group(gid_t gid)
{
    static atomic_uint known = UNREAD;

    return gid == (gid_t)-1 || (gid == overflow_id("/proc/sys/kernel/overflowgid", &known) &&
                                !has_all_ids("/proc/self/gid_map"));
}

static int read_user(int fd, struct ucred *who_p)
{
    socklen_t len = sizeof *who_p;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who_p, &len) < 0)
        return -errno;
    return who_p->pid < 0 || peer_cred_is_overflow(who_p->uid) ? -ENOTUNIQ : 0;
}

static int read_unix(int fd, struct peer_cred *c)
{
    struct ucred who;
    int rc = read_user(fd, &who);

    if (rc < 0)
        return rc;
    *c = (struct peer_cred){ .uid = who.uid, .pid = who.pid };
    c->has_gid = !is_overflow_group(who.gid);
    if (c->has_gid)
        c->gid = who.gid;
    return 0;
}

static int read_tcp(int fd, struct peer_cred *c)
{
    struct owner o = { .inode = 0 };
    struct ends e;
    int rc = read_ends(fd, &e);

    if (rc < 0)
        return rc;
    rc = ask_kernel(fd, &e, &o);
    if (rc < 0 && rc != -ENOENT)
        rc = read_tables(&e, &o);
    if (rc < 0)
        return rc;
    if (o.state != TCP_ESTABLISHED || o.inode == 0 || !is_connected(fd))
        return -ENOENT;
    if (peer_cred_is_overflow(o.uid))
        return -ENOTUNIQ;
    *c = (struct peer_cred){ .uid = o.uid, .socket = (ino_t)o.inode };
    return 0;
}

int peer_cred_read(int fd, struct peer_cred *c_p)
{
    int family = 0;
    socklen_t len = sizeof family;

    *c_p = (struct peer_cred){ .uid = (uid_t)-1, .gid = (gid_t)-1 };
    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len) < 0)
        return -errno;
    return family == AF_UNIX ? read_unix(fd, c_p) : read_tcp(fd, c_p);
}

bool peer_cred_is_process(int fd, uid_t uid, pid_t pid)
{
    struct ucred who;

    return read_user(fd, &who) == 0 && who.uid == uid && (pid == 0 || who.pid == pid);
}

int peer_cred_check(int fd, const struct peer_cred *c)
{
    struct peer_cred now;
    int rc = peer_cred_read(fd, &now);

    if (rc < 0)
        return rc;
    return now.uid == c->uid && now.socket == c->socket ? 0 : -EPERM;
}

const char *peer_cred_text(int rc)
{
    switch (rc) {
    case -ENOENT: return "its other end is no longer an open connection of this machine";
    case -ENOTUNIQ: return "its user is unknown in this user namespace";
    case -EPERM: return "its other end belongs to another process now";
    default: return err_text(rc);
    }
}

/* ---- processes ------------------------------------------------------------------------------- */

/* An open directory of /proc refers to the same process, even if its pid is reused. */
static bool read_ids(int process, uid_t *uid_p, gid_t *gid_p)
{
    int fd = openat(process, "status", O_RDONLY | O_CLOEXEC);
    FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
    unsigned uid = 0, gid = 0, found = 0;
    char line[256];

    while (f && fgets(line, sizeof line, f))
        found += sscanf(line, "Uid: %*u %u", &uid) == 1 || sscanf(line, "Gid: %*u %u", &gid) == 1;
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    *uid_p = uid;
    *gid_p = gid;
    return found == 2;
}

struct look {
    struct peer_cred *cred;
    pid_t pid; /* the first process that holds it */
    gid_t gid;
    bool differs;
};

static void look_at(struct look *k, pid_t pid)
{
    char path[32];
    uid_t uid;
    gid_t gid;
    int process;

    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (process < 0)
        return;
    if (socket_owner_has(pid, k->cred->socket) && read_ids(process, &uid, &gid)) {
        k->differs = k->differs || uid != k->cred->uid || (k->pid && gid != k->gid);
        if (!k->pid) {
            k->pid = pid;
            k->gid = gid;
        }
    }
    close(process);
}

static bool look_below(const void *arg, pid_t pid)
{
    struct look *k = *(struct look *const *)arg;

    look_at(k, pid);
    return false;
}

static void look_everywhere(struct look *k)
{
    DIR *d = opendir("/proc");
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
            look_at(k, (pid_t)atol(e->d_name));
    }
    if (d)
        closedir(d);
}

void peer_cred_find_process(struct peer_cred *c, pid_t root)
{
    struct look k = { .cred = c }, *look = &k;

    if (c->socket == 0 || c->pid > 0)
        return;
    if (root > 0)
        socket_owner_find(root, look_below, &look);
    else
        look_everywhere(&k);
    if (!k.pid || k.differs || is_overflow_group(k.gid))
        return;
    c->pid = k.pid;
    c->gid = k.gid;
    c->has_gid = true;
}

/* ---- messages -------------------------------------------------------------------------------- */

int peer_cred_mark(int fd)
{
    int on = 1;

    return setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ? -errno : 0;
}

bool peer_cred_is_marked(int fd)
{
    int on = 0;
    socklen_t len = sizeof on;

    return getsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, &len) == 0 && on;
}

ssize_t peer_cred_recv(int fd, void *bytes, size_t room, uid_t *uid_p)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec iov = { bytes, room };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof control.bytes };
    ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    struct ucred who;

    *uid_p = (uid_t)-1;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS &&
        c->cmsg_len == CMSG_LEN(sizeof who)) {
        memcpy(&who, CMSG_DATA(c), sizeof who);
        *uid_p = who.uid;
    }
    if (n >= 0)
        fd_pass_take(&m, NULL, 0);
    return n;
}
