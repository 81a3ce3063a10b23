/* client_tcp.c - see client_tcp.h. */
#include "lib/pmix/client/client_tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

#include "base/slice.h"
#include "lib/pmix/values/value.h"

enum { ADDRESS_MAX = 16, TEXT_MAX = 64 };

struct client_tcp client_tcp_read(const pmix_info_t *infos, size_t n)
{
    struct client_tcp t = { .include = NULL };

    for (size_t i = 0; infos && i < n; i++) {
        const pmix_value_t *v = &infos[i].value;
        if (PMIx_Check_key(infos[i].key, PMIX_TCP_IF_INCLUDE))
            t.include = v->data.string;
        else if (PMIx_Check_key(infos[i].key, PMIX_TCP_IF_EXCLUDE))
            t.exclude = v->data.string;
        else if (PMIx_Check_key(infos[i].key, PMIX_TCP_DISABLE_IPV4))
            t.no_ipv4 = PMIx_Value_true(v) != PMIX_BOOL_FALSE;
        else if (PMIx_Check_key(infos[i].key, PMIX_TCP_DISABLE_IPV6))
            t.no_ipv6 = PMIx_Value_true(v) != PMIX_BOOL_FALSE;
    }
    return t;
}

/* Its bytes; 0: of another family. */
static unsigned bytes_of(const struct sockaddr *a, unsigned char *bytes)
{
    if (a && a->sa_family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)(const void *)a)->sin_addr, 4);
        return 4;
    }
    if (a && a->sa_family == AF_INET6) {
        memcpy(bytes, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, 16);
        return 16;
    }
    return 0;
}

static bool same_bits(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    return !memcmp(a, b, whole) && (!rest || !((a[whole] ^ b[whole]) >> (8 - rest)));
}

static unsigned count_bits(const unsigned char *mask, unsigned n)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < n; i++)
        bits += (unsigned)__builtin_popcount(mask[i]);
    return bits;
}

/* The interface with the smallest network that has the address; empty: none. */
static void interface_of(const struct ifaddrs *all, const struct sockaddr *to, char *name)
{
    unsigned char want[ADDRESS_MAX], have[ADDRESS_MAX], mask[ADDRESS_MAX];
    unsigned n = bytes_of(to, want), best = 0;

    *name = '\0';
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        unsigned bits;
        if (!n || bytes_of(i->ifa_addr, have) != n || bytes_of(i->ifa_netmask, mask) != n)
            continue;
        bits = count_bits(mask, n);
        if (bits >= best && same_bits(have, want, bits)) {
            best = bits;
            strncpy(name, i->ifa_name, TEXT_MAX - 1);
        }
    }
}

/* "10.1.0.0/16" */
static bool is_in_network(struct slice item, const struct sockaddr *to)
{
    unsigned char want[ADDRESS_MAX], net[ADDRESS_MAX];
    unsigned n = bytes_of(to, want);
    struct slice rest = item, address = slice_cut(&rest, '/');
    char text[TEXT_MAX] = "";
    uint32_t bits;

    if (!n || address.len >= sizeof text || !slice_u32(rest, &bits) || bits > 8 * n)
        return false;
    memcpy(text, address.ptr, address.len);
    return inet_pton(to->sa_family, text, net) == 1 && same_bits(net, want, bits);
}

static bool lists(const char *list, const char *name, const struct sockaddr *to)
{
    struct slice rest = slice_str(list);

    while (rest.len) {
        struct slice item = slice_trim(slice_cut(&rest, ','));
        if ((*name && slice_is(item, name)) || is_in_network(item, to))
            return true;
    }
    return false;
}

static int refuse(struct errmsg *err, const char *key, const char *name)
{
    return errmsg_set(err, -ENETUNREACH, "%s does not allow to connect to the PMIx server%s%s", key,
                      *name ? ", by the interface " : "", name);
}

int client_tcp_check(const struct client_tcp *t, const struct sockaddr_storage *to,
                     struct errmsg *err)
{
    const struct sockaddr *a = (const void *)to;
    struct ifaddrs *all = NULL;
    char name[TEXT_MAX] = "";

    if (t->no_ipv4 && a->sa_family == AF_INET)
        return refuse(err, "PMIX_TCP_DISABLE_IPV4", "");
    if (t->no_ipv6 && a->sa_family == AF_INET6)
        return refuse(err, "PMIX_TCP_DISABLE_IPV6", "");
    if (!t->include && !t->exclude)
        return 0;
    if (getifaddrs(&all) == 0) {
        interface_of(all, a, name);
        freeifaddrs(all);
    }
    if (t->include && !lists(t->include, name, a))
        return refuse(err, "PMIX_TCP_IF_INCLUDE", name);
    if (t->exclude && lists(t->exclude, name, a))
        return refuse(err, "PMIX_TCP_IF_EXCLUDE", name);
    return 0;
}
