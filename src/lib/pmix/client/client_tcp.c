/* client_tcp.c - see client_tcp.h. */
#include "lib/pmix/client/client_tcp.h"

#include <errno.h>
#include <ifaddrs.h>
#include <string.h>

#include "base/slice.h"
#include "io/ip_address.h"
#include "lib/pmix/values/value.h"

enum { NAME_SIZE = 64 };

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

/* The interface with the smallest network that has the address; empty: none. */
static void interface_of(const struct ifaddrs *all, const struct ip_address *to, char *name)
{
    unsigned best = 0;

    *name = '\0';
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        struct ip_address have = ip_address_of(i->ifa_addr);
        unsigned bits = ip_address_mask_bits(have.family, i->ifa_netmask);
        if (bits >= best && ip_address_shares_network(&have, to, bits)) {
            best = bits;
            strncpy(name, i->ifa_name, NAME_SIZE - 1);
        }
    }
}

/* "10.1.0.0/16" */
static bool is_network(struct slice item)
{
    return slice_find(item, '/') < item.len;
}

static bool lists(const char *list, const char *name, const struct ip_address *to)
{
    struct slice rest = slice_str(list);

    while (rest.len) {
        struct slice item = slice_trim(slice_cut(&rest, ','));
        if ((*name && slice_is(item, name)) || (is_network(item) && ip_address_matches(item, to)))
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
    struct ip_address a = ip_address_of((const struct sockaddr *)to);
    struct ifaddrs *all = NULL;
    char name[NAME_SIZE] = "";

    if (t->no_ipv4 && a.family == AF_INET)
        return refuse(err, "PMIX_TCP_DISABLE_IPV4", "");
    if (t->no_ipv6 && a.family == AF_INET6)
        return refuse(err, "PMIX_TCP_DISABLE_IPV6", "");
    if (!t->include && !t->exclude)
        return 0;
    if (getifaddrs(&all) == 0) {
        interface_of(all, &a, name);
        freeifaddrs(all);
    }
    if (t->include && !lists(t->include, name, &a))
        return refuse(err, "PMIX_TCP_IF_INCLUDE", name);
    if (t->exclude && lists(t->exclude, name, &a))
        return refuse(err, "PMIX_TCP_IF_EXCLUDE", name);
    return 0;
}
