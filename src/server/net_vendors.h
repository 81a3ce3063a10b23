/* net_vendors.h - names of the vendors of network devices. */
#ifndef WIREUP_SERVER_NET_VENDORS_H
#define WIREUP_SERVER_NET_VENDORS_H

/* By the number on the PCI bus, as the kernel writes it ("0x15b3"); empty: not known. */
const char *net_vendor_name(const char *number);

#endif
