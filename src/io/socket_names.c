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
    ACCEPTS = 0x10000, /* a flag in /proc/net/unix: a listening socket */
};

struct listing {
    struct slice prefix;
    socket_name_fn *fn;
    void *arg;
    bool over;
};

static void tell(struct listing *l, struct slice name, bool known)
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

static void read_one(struct listing *l, const struct nlmsghdr *h)
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
        tell(l, slice_skip(name, 1), known);
}

/* 1: more follows. */
static int read_reply(struct listing *l, const char *bytes, size_t n)
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

static int list_by_diag(struct listing *l)
{
    _Alignas(struct nlmsghdr) char reply[REPLY];
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int rc;

    if (fd < 0)
        return -errno;
    rc = ask(fd);
    if (rc == 0)
        rc = 1;
    while (rc > 0) {
        ssize_t n = recv(fd, reply, sizeof reply, 0);
        if (n < 0 && errno != EINTR)
            rc = -errno;
        else if (n > 0)
            rc = read_reply(l, reply, (size_t)n);
        else if (n == 0)
            rc = 0;
    }
    close(fd);
    return rc;
}

/* ---- /proc/net/unix ---- */

static int list_by_table(struct listing *l)
{
    char line[256];
    unsigned long flags;
    FILE *f = fopen("/proc/net/unix", "re");

    if (!f)
        return -errno;
    while (!l->over && fgets(line, sizeof line, f)) {
        const char *name = strchr(line, '@');
        if (name && sscanf(line, "%*s %*s %*s %lx", &flags) == 1 && (flags & ACCEPTS))
            tell(l, slice_mem(name + 1, strcspn(name + 1, "\n")), false);
    }
    fclose(f);
    return 0;
}

int socket_names_list(struct slice prefix, socket_name_fn *fn, void *arg)
{
    struct listing l = { .prefix = prefix, .fn = fn, .arg = arg };
    int rc = list_by_diag(&l);

    return rc < 0 ? list_by_table(&l) : 0;
}
