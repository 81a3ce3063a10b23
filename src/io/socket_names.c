/* socket_names.c - see socket_names.h. */
#include "io/socket_names.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LISTENING = 10,  /* TCP_LISTEN; unix sockets have the same states */
    SHOW_UID = 0x40, /* UDIAG_SHOW_UID and UNIX_DIAG_UID, Linux 5.3 */
    DIAG_UID = 7,
    REPLY = 64 << 10,
    LINES = 512,       /* of the table, in one piece */
    ACCEPTS = 0x10000, /* a flag in /proc/net/unix: a listening socket */
};

static void report_name(struct socket_names *l, struct slice name, bool known)
{
    if (!l->over && slice_starts(name, l->prefix))
        l->over = !l->fn(l->arg, name, known);
}

/* ---- socket diagnostics ---- */

static int ask(int fd)
{
    const struct {
        struct nlmsghdr head;
        struct unix_diag_req body;
    } q = {
        .head = { .nlmsg_len = sizeof q,
                  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
        .body = { .sdiag_family = AF_UNIX,
                  .udiag_states = 1U << LISTENING,
                  .udiag_show = UDIAG_SHOW_NAME | SHOW_UID },
    };

    return send(fd, &q, sizeof q, 0) < 0 ? -errno : 0;
}

static void read_one(struct socket_names *l, const struct nlmsghdr *h)
{
    const struct unix_diag_msg *m = NLMSG_DATA(h);
    const struct rtattr *a = (const void *)(m + 1);
    unsigned len = h->nlmsg_len - (unsigned)NLMSG_LENGTH(sizeof *m);
    struct slice name = SLICE_NULL;
    bool known = false, ours = true;
    uint32_t uid;

    for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
        if (a->rta_type == UNIX_DIAG_NAME)
            name = slice_mem(RTA_DATA(a), RTA_PAYLOAD(a));
        if (a->rta_type == DIAG_UID && RTA_PAYLOAD(a) == sizeof uid) {
            memcpy(&uid, RTA_DATA(a), sizeof uid);
            known = true;
            ours = uid == geteuid();
        }
    }
    if (ours && name.len && name.ptr[0] == '\0')
        report_name(l, slice_skip(name, 1), known);
}

/* 1: more follows. */
static int read_reply(struct socket_names *l, const char *bytes, size_t n)
{
    const struct nlmsghdr *h = (const void *)bytes;
    unsigned len = (unsigned)n;

    for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
        if (h->nlmsg_type == NLMSG_DONE)
            return 0;
        if (h->nlmsg_type == NLMSG_ERROR)
            return -ENOENT;
        if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
            h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
            read_one(l, h);
    }
    return l->over ? 0 : 1;
}

static int open_diag(struct socket_names *l)
{
    int rc;

    l->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (l->fd < 0)
        return -errno;
    rc = ask(l->fd);
    if (rc < 0)
        socket_names_close(l);
    return rc;
}

/* 1: more follows; -errno: the kernel does not tell. */
static int more_by_diag(struct socket_names *l)
{
    _Alignas(struct nlmsghdr) char reply[REPLY];
    ssize_t n;

    do
        n = recv(l->fd, reply, sizeof reply, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return n > 0 ? read_reply(l, reply, (size_t)n) : 0;
}

/* ---- /proc/net/unix ---- */

static int open_table(struct socket_names *l)
{
    l->table = fopen("/proc/net/unix", "re");
    return l->table ? 0 : -errno;
}

static bool more_by_table(struct socket_names *l)
{
    char line[256];
    unsigned long flags;

    for (int i = 0; i < LINES && !l->over; i++) {
        const char *name = fgets(line, sizeof line, l->table) ? strchr(line, '@') : "";
        if (name && !*name)
            return false;
        if (name && sscanf(line, "%*s %*s %*s %lx", &flags) == 1 && (flags & ACCEPTS))
            report_name(l, slice_mem(name + 1, strcspn(name + 1, "\n")), false);
    }
    return !l->over;
}

/* ---- both ---- */

int socket_names_open(struct socket_names *l, struct slice prefix, socket_name_fn *fn, void *arg)
{
    *l = SOCKET_NAMES_CLOSED;
    l->prefix = prefix;
    l->fn = fn;
    l->arg = arg;
    return open_diag(l) < 0 ? open_table(l) : 0;
}

bool socket_names_more(struct socket_names *l)
{
    int rc;

    if (l->table)
        return more_by_table(l);
    rc = l->fd < 0 ? 0 : more_by_diag(l);
    if (rc >= 0)
        return rc > 0;
    socket_names_close(l);
    return open_table(l) == 0;
}

void socket_names_close(struct socket_names *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    if (l->table)
        fclose(l->table);
    l->table = NULL;
}
