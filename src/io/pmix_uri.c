/* pmix_uri.c - see pmix_uri.h. */
#include "io/pmix_uri.h"

#include <errno.h>

#include "io/ip_address.h"
#include "wire/pmix_types.h"

static struct slice cut_last(struct slice *rest, char c)
{
    size_t n = rest->len;
    struct slice tail;

    while (n && rest->ptr[n - 1] != c)
        n--;
    if (!n)
        return SLICE_NULL;
    tail = slice_skip(*rest, n);
    rest->len = n - 1;
    return tail;
}

/* A literal: names are not resolved, as in every other client. */
static bool set_address(struct pmix_uri *u, bool v4, struct slice host, uint32_t port)
{
    struct ip_address a;

    if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
        host = slice_head(slice_skip(host, 1), host.len - 2);
    if (!ip_address_read(host, &a) || (a.family == AF_INET) != v4 || port == 0 || port > UINT16_MAX)
        return false;
    ip_address_socket(&a, (uint16_t)port, &u->address, &u->address_len);
    return true;
}

int pmix_uri_read(const char *text, struct pmix_uri *u_p, struct errmsg *err)
{
    struct slice rest = slice_str(text), name = slice_cut(&rest, ';'), port;
    bool v4 = slice_starts(rest, SLICE("tcp4")), v6 = slice_starts(rest, SLICE("tcp6"));
    uint32_t number = 0;

    u_p->rank = 0;
    if (!slice_u32(cut_last(&name, '.'), &u_p->rank) || !name.len || name.len > PMIX_MAX_NSLEN ||
        !(v4 || v6) || slice_find(rest, ';') != rest.len)
        return errmsg_set(err, -EINVAL, "'%.300s' is not the address of a PMIx server", text);
    u_p->nspace = name;
    rest = slice_skip(rest, sizeof "tcp4://" - 1);
    port = cut_last(&rest, ':');
    if (!slice_u32(port, &number) || !set_address(u_p, v4, rest, number))
        return errmsg_set(err, -EINVAL, "'%.300s' has no usable address of a PMIx server", text);
    return 0;
}
