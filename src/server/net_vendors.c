/* net_vendors.c - see net_vendors.h. */
#include "server/net_vendors.h"

#include <stddef.h>
#include <string.h>

const char *net_vendor_name(const char *number)
{
    static const char *const names[][2] = {
        { "0x1000", "Broadcom (LSI)" }, { "0x1022", "AMD" },       { "0x1077", "QLogic" },
        { "0x10de", "NVIDIA" },         { "0x10df", "Emulex" },    { "0x10ec", "Realtek" },
        { "0x1137", "Cisco" },          { "0x1414", "Microsoft" }, { "0x1425", "Chelsio" },
        { "0x14e4", "Broadcom" },       { "0x15ad", "VMware" },    { "0x15b3", "Mellanox" },
        { "0x17db", "Cray" },           { "0x18c3", "Micronas" },  { "0x1924", "Solarflare" },
        { "0x19e5", "Huawei" },         { "0x1af4", "Red Hat" },   { "0x1d0f", "Amazon" },
        { "0x1dd8", "Pensando" },       { "0x1fc1", "QLogic" },    { "0x434e", "Cornelis" },
        { "0x8086", "Intel" },
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(names[i][0], number))
            return names[i][1];
    }
    return "";
}
