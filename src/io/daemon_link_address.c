/* daemon_link_address.c - see daemon_link_address.h. */
#include "io/daemon_link_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/addresses.h"
#include "io/ip_address.h"

enum { OWN_MAX = 1 << 20 };

/* ---- text ---- */

void daemon_link_address_text(const struct daemon_link_address *w,
                              char text[DAEMON_LINK_ADDRESS_TEXT])
{
    const struct sockaddr *a = (const struct sockaddr *)&w->at;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)&w->at;
    char ip[INET6_ADDRSTRLEN] = "?";
    bool four = a->sa_family == AF_INET;
    struct ip_address address = ip_address_of(a);

    if (!four && a->sa_family != AF_INET6) {
        snprintf(text, DAEMON_LINK_ADDRESS_TEXT, "?");
        return;
    }
    /* An IPv4 peer of a dual-stack socket. */
    if (!four && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
        four = true;
        inet_ntop(AF_INET, six->sin6_addr.s6_addr + 12, ip, sizeof ip);
    } else {
        inet_ntop(a->sa_family, address.bytes, ip, sizeof ip);
    }
    snprintf(text, DAEMON_LINK_ADDRESS_TEXT, four ? "%s:%u" : "[%s]:%u", ip,
             (unsigned)ntohs(six->sin6_port)); /* at the same offset in both */
}

static bool read_one(struct slice word, struct daemon_link_address *w)
{
    bool brackets = word.len && word.ptr[0] == '[';
    struct slice port = brackets ? slice_skip(word, 1) : word;
    struct slice host = slice_cut(&port, brackets ? ']' : ':');
    struct ip_address a;
    uint32_t n;

    if (brackets && (port.len == 0 || port.ptr[0] != ':'))
        return false;
    if (brackets)
        port = slice_skip(port, 1);
    if (!slice_u32(port, &n) || n == 0 || n > UINT16_MAX || !ip_address_read(host, &a) ||
        (a.family == AF_INET6) != brackets)
        return false;
    ip_address_socket(&a, (uint16_t)n, &w->at, &w->len);
    return true;
}

static struct slice next_word(struct slice *rest)
{
    size_t n = 0;
    struct slice word;

    while (rest->len && strchr(" ,\t\r\n", rest->ptr[0]))
        *rest = slice_skip(*rest, 1);
    while (n < rest->len && !strchr(" ,\t\r\n", rest->ptr[n]))
        n++;
    word = slice_head(*rest, n);
    *rest = slice_skip(*rest, n);
    return word;
}

size_t daemon_link_address_read(struct slice text, struct daemon_link_address *list, size_t room,
                                struct errmsg *err)
{
    struct slice word;
    size_t n = 0;

    while ((word = next_word(&text)).len) {
        struct daemon_link_address one;
        if (!read_one(word, &one)) {
            errmsg_set(err, 0,
                       "'" SLICE_FMT "' is not the address of a daemon (IP:PORT or [IPv6]:PORT)",
                       SLICE_ARG(slice_head(word, 100)));
            return 0;
        }
        if (n < room)
            list[n++] = one;
    }
    if (n == 0)
        errmsg_set(err, 0, "there is no address of a daemon");
    return n;
}

/* ---- order ---- */

enum nearness { LOCAL, REMOTE, OWN };

struct ranking {
    const struct daemon_link_address *list;
    enum nearness *near;
    size_t n;
};

/* Ranks their addresses by one address of ours. */
static void rank(void *arg, int family, const unsigned char *own, unsigned bits, unsigned interface)
{
    struct ranking *k = arg;
    struct ip_address ours = { .family = family };

    (void)interface;
    memcpy(ours.bytes, own, ip_address_size(family));
    for (size_t i = 0; i < k->n; i++) {
        struct ip_address a = ip_address_of((const struct sockaddr *)&k->list[i].at);
        if (k->near[i] == OWN)
            continue;
        if (ip_address_equal(&a, &ours))
            k->near[i] = OWN;
        else if (ip_address_shares_network(&a, &ours, bits))
            k->near[i] = LOCAL;
    }
}

void daemon_link_address_sort(struct daemon_link_address *list, size_t n)
{
    struct daemon_link_address *sorted = n > 1 ? malloc(n * sizeof *sorted) : NULL;
    enum nearness *near = n > 1 ? malloc(n * sizeof *near) : NULL;
    struct ranking k = { list, near, n };
    size_t at = 0;

    for (size_t i = 0; near && i < n; i++)
        near[i] = REMOTE;
    if (sorted && near && addresses_each(rank, &k) == 0) {
        for (int want = LOCAL; want <= OWN; want++) {
            for (size_t i = 0; i < n; i++) {
                if ((int)near[i] == want)
                    sorted[at++] = list[i];
            }
        }
        memcpy(list, sorted, n * sizeof *sorted);
    }
    free(sorted);
    free(near);
}

/* ---- our own addresses ---- */

/* "10.1.2.3", or one of "10.1.0.0/16" */
static bool is_address(const char *text, const struct sockaddr *s)
{
    struct ip_address a = ip_address_of(s);

    return ip_address_matches(slice_str(text), &a);
}

/* An address that others can use: up, IPv4 or IPv6, and not link-local, which means nothing
 * elsewhere. */
static bool usable(const struct ifaddrs *i)
{
    const struct sockaddr_in6 *six = (const void *)i->ifa_addr;

    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP))
        return false;
    if (i->ifa_addr->sa_family == AF_INET)
        return true;
    return i->ifa_addr->sa_family == AF_INET6 && !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr);
}

static bool chosen(const struct ifaddrs *i, const char *interface)
{
    return strcmp(i->ifa_name, interface) == 0 || is_address(interface, i->ifa_addr);
}

static void add(struct buf *text, const struct sockaddr *a, uint16_t port)
{
    struct daemon_link_address w = { 0 };
    char word[DAEMON_LINK_ADDRESS_TEXT];

    w.len = a->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    memcpy(&w.at, a, w.len);
    ((struct sockaddr_in *)(void *)&w.at)->sin_port = htons(port); /* the same place in both */
    daemon_link_address_text(&w, word);
    if (buf_len(text))
        buf_byte(text, ' ');
    buf_str(text, word);
}

static int cannot_list(int rc, struct errmsg *err)
{
    return errmsg_set(err, rc, "cannot list the network interfaces: %s", err_text(rc));
}

static int list_of_interface(const char *interface, uint16_t port, struct buf *text,
                             struct errmsg *err)
{
    struct ifaddrs *all;
    size_t n = 0;

    if (getifaddrs(&all) < 0)
        return cannot_list(-errno, err);
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        if (!usable(i) || !chosen(i, interface))
            continue;
        add(text, i->ifa_addr, port);
        n++;
    }
    freeifaddrs(all);
    if (n == 0)
        return errmsg_set(err, -ENODEV,
                          "the network interface %.100s does not exist, is down or has no address",
                          interface);
    return 0;
}

/* Those of all interfaces, without asking the kernel for a list of these: see addresses.h. */
struct own_addresses {
    uint16_t port;
    int fd; /* any socket */
    unsigned interface;
    int flags; /* of that one */
    struct buf others, loopback;
};

/* 0: it has gone meanwhile. */
static int flags_of(struct own_addresses *o, unsigned interface)
{
    struct ifreq q = { .ifr_ifindex = (int)interface };

    if (o->interface == interface)
        return o->flags;
    o->interface = interface;
    o->flags = 0;
    if (ioctl(o->fd, SIOCGIFNAME, &q) == 0 && ioctl(o->fd, SIOCGIFFLAGS, &q) == 0)
        o->flags = q.ifr_flags;
    return o->flags;
}

static void add_own(void *arg, int family, const unsigned char *bytes, unsigned bits,
                    unsigned interface)
{
    struct own_addresses *o = arg;
    struct sockaddr_in four = { .sin_family = AF_INET };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
    struct ifaddrs one = { .ifa_addr = family == AF_INET ? (struct sockaddr *)&four
                                                         : (struct sockaddr *)&six };

    (void)bits;
    if (family == AF_INET)
        memcpy(&four.sin_addr, bytes, sizeof four.sin_addr);
    else
        memcpy(&six.sin6_addr, bytes, sizeof six.sin6_addr);
    one.ifa_flags = (unsigned)flags_of(o, interface);
    if (usable(&one))
        add(one.ifa_flags & IFF_LOOPBACK ? &o->loopback : &o->others, one.ifa_addr, o->port);
}

static int list_all(uint16_t port, struct buf *text, struct errmsg *err)
{
    struct own_addresses o = { .port = port,
                               .fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0),
                               .others = BUF_NULL(OWN_MAX),
                               .loopback = BUF_NULL(OWN_MAX) };
    int rc = o.fd < 0 ? -errno : addresses_each(add_own, &o);
    struct buf *found = buf_len(&o.others) ? &o.others : &o.loopback;

    if (o.fd >= 0)
        close(o.fd);
    if (rc < 0)
        cannot_list(rc, err);
    else if (!buf_ok(&o.others) || !buf_ok(&o.loopback))
        rc = errmsg_set(err, -ENOMEM, "out of memory");
    else if (!buf_len(found))
        rc = errmsg_set(err, -ENETDOWN, "no network interface has an address");
    else
        buf_slice_put(text, buf_slice(found));
    buf_free(&o.others);
    buf_free(&o.loopback);
    return rc;
}

int daemon_link_address_ours(const char *interface, uint16_t port, struct buf *text,
                             struct errmsg *err)
{
    int rc = interface ? list_of_interface(interface, port, text, err) : list_all(port, text, err);

    if (rc)
        return rc;
    return buf_ok(text) ? 0 : errmsg_set(err, -ENOMEM, "out of memory");
}

bool daemon_link_address_network(const char *interface, char *text, size_t room)
{
    struct ifaddrs *all;
    bool found = false;

    if (strchr(interface, '/') || getifaddrs(&all) < 0)
        return false;
    for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
        found = usable(i) && is_address(interface, i->ifa_addr) &&
                snprintf(text, room, "%s/%u", interface,
                         ip_address_mask_bits(i->ifa_addr->sa_family, i->ifa_netmask)) < (int)room;
    freeifaddrs(all);
    return found;
}

int daemon_link_address_device(const char *interface, char *name, size_t room)
{
    struct ifaddrs *all;
    int rc = -ENODEV;

    if (getifaddrs(&all) < 0)
        return -errno;
    for (const struct ifaddrs *i = all; i && rc; i = i->ifa_next) {
        if (usable(i) && chosen(i, interface))
            rc = snprintf(name, room, "%s", i->ifa_name) < (int)room ? 0 : -ENAMETOOLONG;
    }
    freeifaddrs(all);
    return rc;
}
