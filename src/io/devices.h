/* devices.h - reads from /sys which network devices this machine has (core/usage.h): Ethernet and
 * the like, without the loopback, and those of InfiniBand. */
#ifndef WIREUP_IO_DEVICES_H
#define WIREUP_IO_DEVICES_H

#include "core/usage.h"

/* Each of them, as the folder shows them that usually is /sys.  0; -errno if there is no such
 * folder. */
int devices_below(const char *sys, net_device_fn *fn, void *arg);
int devices_of_node(net_device_fn *fn, void *arg);

#endif
