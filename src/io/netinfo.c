/* netinfo.c - see netinfo.h. */
#include "io/netinfo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>

static void put_address(const struct ifaddrs *i, struct buf *out)
{
    char text[INET6_ADDRSTRLEN];
    int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
    const void *bytes = NULL;

    if (!(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
        return;
    if (family == AF_INET)
        bytes = &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
    else if (family == AF_INET6)
        bytes = &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr;
    if (bytes && inet_ntop(family, bytes, text, sizeof text))
        buf_printf(out, ",(%s,IP_V%d,%s)", i->ifa_name, family == AF_INET ? 4 : 6, text);
}

int netinfo_text(const char *host, struct buf *out)
{
    struct ifaddrs *all;

    if (getifaddrs(&all) < 0)
        return -errno;
    buf_printf(out, "(%s", host);
    for (const struct ifaddrs *i = all; i; i = i->ifa_next)
        put_address(i, out);
    buf_byte(out, ')');
    freeifaddrs(all);
    return 0;
}
