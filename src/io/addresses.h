/* addresses.h - the addresses of this machine, with their prefix lengths.
 *
 * getifaddrs() requests the interfaces as well, whose counters alone are kilobytes; each daemon of
 * a job asks once, before it connects to its parent.
 */
#ifndef WIREUP_IO_ADDRESSES_H
#define WIREUP_IO_ADDRESSES_H

/* One address: 4 bytes for AF_INET, 16 for AF_INET6; the number of its interface. */
typedef void addresses_fn(void *arg, int family, const unsigned char *bytes, unsigned bits,
                          unsigned interface);

/* 0, or -errno: not all addresses were reported. */
int addresses_each(addresses_fn *fn, void *arg);

#endif
