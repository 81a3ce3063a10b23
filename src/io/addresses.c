/* addresses.c - see addresses.h. */
#include "io/addresses.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdalign.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PART = 16 << 10 }; /* the kernel's messages are not larger */

static int ask(int fd)
{
    struct {
        struct nlmsghdr head;
        struct ifaddrmsg what;
    } all = { .head = { .nlmsg_len = sizeof all,
                        .nlmsg_type = RTM_GETADDR,
                        .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
              .what = { .ifa_family = AF_UNSPEC } };

    return send(fd, &all, sizeof all, 0) < 0 ? -errno : 0;
}

/* The last item of a list may lack its padding. */
static size_t step(size_t aligned, size_t left)
{
    return aligned < left ? aligned : left;
}

/* On a point-to-point link IFA_ADDRESS is the other end, and IFA_LOCAL ours. */
static void report_address(const struct nlmsghdr *m, addresses_fn *fn, void *arg)
{
    const struct ifaddrmsg *a = NLMSG_DATA(m);
    unsigned size = a->ifa_family == AF_INET ? 4 : 16;
    const unsigned char *bytes = NULL;
    const struct rtattr *r = IFA_RTA(a);
    size_t left = IFA_PAYLOAD(m);

    if (a->ifa_family != AF_INET && a->ifa_family != AF_INET6)
        return;
    while (left >= sizeof *r && r->rta_len >= sizeof *r && r->rta_len <= left) {
        bool here = r->rta_type == IFA_LOCAL;
        if ((here || (r->rta_type == IFA_ADDRESS && !bytes)) && RTA_PAYLOAD(r) == size)
            bytes = RTA_DATA(r);
        left -= step(RTA_ALIGN(r->rta_len), left);
        r = (const void *)((const char *)r + RTA_ALIGN(r->rta_len));
    }
    if (bytes && a->ifa_prefixlen <= size * 8)
        fn(arg, a->ifa_family, bytes, a->ifa_prefixlen, a->ifa_index);
}

/* 1: more follows; 0: done; or -errno. */
static int take(const void *part, size_t n, addresses_fn *fn, void *arg)
{
    const struct nlmsghdr *m = part;

    while (n >= sizeof *m && m->nlmsg_len >= sizeof *m && m->nlmsg_len <= n) {
        switch (m->nlmsg_type) {
        case NLMSG_DONE: return 0;
        case NLMSG_ERROR: return -EIO;
        case RTM_NEWADDR:
            if (m->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifaddrmsg)))
                report_address(m, fn, arg);
            break;
        default: break;
        }
        n -= step(NLMSG_ALIGN(m->nlmsg_len), n);
        m = (const void *)((const char *)m + NLMSG_ALIGN(m->nlmsg_len));
    }
    return 1;
}

int addresses_each(addresses_fn *fn, void *arg)
{
    alignas(struct nlmsghdr) char part[PART];
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), rc;

    if (fd < 0)
        return -errno;
    for (rc = ask(fd) < 0 ? -errno : 1; rc > 0;) {
        ssize_t n = recv(fd, part, sizeof part, 0);
        if (n < 0 && errno == EINTR)
            continue;
        rc = n <= 0 ? (n < 0 ? -errno : -EIO) : take(part, (size_t)n, fn, arg);
    }
    close(fd);
    return rc;
}
