/* ip_address.h - IPv4 and IPv6 addresses: their text, their bytes, and the networks they are in.
 *
 * Text is a literal; names are not resolved.  A zone ("%eth0") is part of no literal here.
 */
#ifndef WIREUP_IO_IP_ADDRESS_H
#define WIREUP_IO_IP_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/slice.h"

struct ip_address {
    int family; /* AF_INET or AF_INET6; 0: none */
    unsigned char bytes[16];
};

/* Bytes of an address of that family: 4, 16, or 0 for other families. */
unsigned ip_address_size(int family);

/* "10.1.2.3" or "2001:db8::7", without brackets.  False: it is neither (*a_p: none). */
bool ip_address_read(struct slice text, struct ip_address *a_p);

/* That of a socket's address; none for NULL and for other families. */
struct ip_address ip_address_of(const struct sockaddr *s);

bool ip_address_equal(const struct ip_address *a, const struct ip_address *b);

/* Of one family, and equal in the first bits (at most all). */
bool ip_address_shares_network(const struct ip_address *a, const struct ip_address *b,
                               unsigned bits);

/* The length of an interface's netmask.  All bits of that family without one (NULL). */
unsigned ip_address_mask_bits(int family, const struct sockaddr *mask);

/* The address and port (1 to 65535) for a socket. */
void ip_address_socket(const struct ip_address *a, uint16_t port, struct sockaddr_storage *s_p,
                       socklen_t *len_p);

/* Whether it is the address or in the network that the text means: "10.1.2.3", "10.1.0.0/16".
 * False also for text that is neither. */
bool ip_address_matches(struct slice text, const struct ip_address *a);

#endif
