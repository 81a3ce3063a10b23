/* netinfo.h - the addresses of this machine's network interfaces as text: PMI_netinfo_of_task.
 *
 *   (node1,(eth0,IP_V4,192.0.2.1),(eth0,IP_V6,2001:db8::1))
 *
 * Interfaces that are down, and loopback, are left out.
 */
#ifndef WIREUP_IO_NETINFO_H
#define WIREUP_IO_NETINFO_H

#include "base/buf.h"

/* Appends; running out of memory poisons the buffer.  0 or -errno. */
int netinfo_text(const char *host, struct buf *out);

#endif
