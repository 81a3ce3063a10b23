/* ip_address.c - see ip_address.h. */
#include "io/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

unsigned ip_address_size(int family)
{
    return family == AF_INET ? 4 : family == AF_INET6 ? 16 : 0;
}

bool ip_address_read(struct slice text, struct ip_address *a_p)
{
    char literal[INET6_ADDRSTRLEN] = "";

    *a_p = (struct ip_address){ .family = 0 };
    if (text.len >= sizeof literal)
        return false;
    memcpy(literal, text.ptr, text.len);
    if (strlen(literal) != text.len)
        return false;
    if (inet_pton(AF_INET, literal, a_p->bytes) == 1)
        a_p->family = AF_INET;
    else if (inet_pton(AF_INET6, literal, a_p->bytes) == 1)
        a_p->family = AF_INET6;
    return a_p->family != 0;
}

/* Its bytes are where those of that family are. */
static struct ip_address read_as(int family, const struct sockaddr *s)
{
    const struct sockaddr_in *four = (const void *)s;
    const struct sockaddr_in6 *six = (const void *)s;
    struct ip_address a = { .family = family };

    memcpy(a.bytes, family == AF_INET ? (const void *)&four->sin_addr : &six->sin6_addr,
           ip_address_size(family));
    return a;
}

struct ip_address ip_address_of(const struct sockaddr *s)
{
    if (!s || !ip_address_size(s->sa_family))
        return (struct ip_address){ .family = 0 };
    return read_as(s->sa_family, s);
}

/* Some netmasks have no family. */
unsigned ip_address_mask_bits(int family, const struct sockaddr *mask)
{
    unsigned all = 8 * ip_address_size(family), n = 0;
    struct ip_address m;

    if (!all || !mask)
        return all;
    m = read_as(family, mask);
    while (n < all && m.bytes[n / 8] >> (7 - n % 8) & 1)
        n++;
    return n;
}

bool ip_address_equal(const struct ip_address *a, const struct ip_address *b)
{
    return ip_address_shares_network(a, b, 8 * ip_address_size(a->family));
}

bool ip_address_shares_network(const struct ip_address *a, const struct ip_address *b,
                               unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    if (!a->family || a->family != b->family || bits > 8 * ip_address_size(a->family))
        return false;
    return memcmp(a->bytes, b->bytes, whole) == 0 &&
           (!rest || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0);
}

void ip_address_socket(const struct ip_address *a, uint16_t port, struct sockaddr_storage *s_p,
                       socklen_t *len_p)
{
    struct sockaddr_in *four = (void *)s_p;
    struct sockaddr_in6 *six = (void *)s_p;

    memset(s_p, 0, sizeof *s_p);
    if (a->family == AF_INET) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        memcpy(&four->sin_addr, a->bytes, 4);
        *len_p = sizeof *four;
        return;
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    memcpy(&six->sin6_addr, a->bytes, 16);
    *len_p = sizeof *six;
}

bool ip_address_matches(struct slice text, const struct ip_address *a)
{
    struct slice length = text, literal = slice_cut(&length, '/');
    uint32_t bits = 8 * ip_address_size(a->family);
    struct ip_address wanted;

    if (!ip_address_read(literal, &wanted))
        return false;
    if (literal.len < text.len && !slice_u32(length, &bits))
        return false;
    return ip_address_shares_network(&wanted, a, bits);
}
