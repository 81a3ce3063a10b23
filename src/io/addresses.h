/* addresses.h - the addresses of this machine, with how many of their bits name the network.
 *
 * getifaddrs() asks for the interfaces as well, whose counters alone are kilobytes; each daemon of
 * a job asks once, before it calls its parent.
 */
#ifndef WIREUP_IO_ADDRESSES_H
#define WIREUP_IO_ADDRESSES_H

/* One address: 4 bytes for AF_INET, 16 for AF_INET6. */
typedef void addresses_fn(void *arg, int family, const unsigned char *bytes, unsigned bits);

/* 0, or -errno: not all were told. */
int addresses_each(addresses_fn *fn, void *arg);

#endif
