/* addresses_test.c - the addresses that the kernel reports are those of getifaddrs(). */
#include "io/addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/tap.h"

enum { MOST = 1024 };

struct seen {
    int family;
    unsigned char bytes[16];
    unsigned bits, interface;
};

struct all {
    struct seen list[MOST];
    unsigned n;
};

static void keep(void *arg, int family, const unsigned char *bytes, unsigned bits,
                 unsigned interface)
{
    struct all *all = arg;
    struct seen *s = &all->list[all->n];

    if (all->n == MOST)
        return;
    s->family = family;
    s->bits = bits;
    s->interface = interface;
    memcpy(s->bytes, bytes, family == AF_INET ? 4 : 16);
    all->n++;
}

static const unsigned char *bytes_of(const struct sockaddr *a)
{
    return a->sa_family == AF_INET
               ? (const void *)&((const struct sockaddr_in *)(const void *)a)->sin_addr
               : (const void *)&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
}

static unsigned bits_of(const struct ifaddrs *i)
{
    const unsigned char *mask =
        i->ifa_addr->sa_family == AF_INET
            ? (const void *)&((const struct sockaddr_in *)(const void *)i->ifa_netmask)->sin_addr
            : (const void *)&((const struct sockaddr_in6 *)(const void *)i->ifa_netmask)->sin6_addr;
    unsigned n = 0, most = i->ifa_addr->sa_family == AF_INET ? 32 : 128;

    while (n < most && mask[n / 8] >> (7 - n % 8) & 1)
        n++;
    return n;
}

static bool is_kept(const struct all *all, const struct ifaddrs *i)
{
    size_t size = i->ifa_addr->sa_family == AF_INET ? 4 : 16;

    for (unsigned k = 0; k < all->n; k++) {
        const struct seen *s = &all->list[k];
        if (s->family == i->ifa_addr->sa_family && s->bits == bits_of(i) &&
            s->interface == if_nametoindex(i->ifa_name) &&
            memcmp(s->bytes, bytes_of(i->ifa_addr), size) == 0)
            return true;
    }
    return false;
}

int main(void)
{
    static struct all all;
    struct ifaddrs *list = NULL;
    unsigned n = 0, missing = 0;

    OK(addresses_each(keep, &all) == 0 && getifaddrs(&list) == 0);
    for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
        if (!i->ifa_addr || !i->ifa_netmask ||
            (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
            continue;
        n++;
        missing += !is_kept(&all, i);
    }
    OK_F(missing == 0 && n == all.n, "%u addresses, %u told, %u not", n, all.n, missing);
    freeifaddrs(list);
    return tap_done();
}
