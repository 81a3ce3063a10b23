/* shown_devices.h - for query.c: what the kernel shows of the network devices of a machine:
 * net/NAME and infiniband/NAME.  A text that is empty is not shown. */
#ifndef WIREUP_TESTS_SHOWN_DEVICES_H
#define WIREUP_TESTS_SHOWN_DEVICES_H

#include <dirent.h>
#include <net/if_arp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the devices are; another folder for a machine that is made up. */
static const char *sys = "/sys";

/* What a file of a device (net/NAME, infiniband/NAME) shows; an empty text if there is none. */
static const char *shown(const char *device, const char *file)
{
    static char text[256];
    char path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/class/%s/%s", sys, device, file);
    f = fopen(path, "r");
    if (!f || !fgets(text, sizeof text, f))
        *text = '\0';
    if (f)
        fclose(f);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* The last part of where a link of it leads. */
static const char *shown_link(const char *device, const char *link)
{
    static char to[512];
    char path[512];
    ssize_t n;

    snprintf(path, sizeof path, "%s/class/%s/%s", sys, device, link);
    n = readlink(path, to, sizeof to - 1);
    to[n < 0 ? 0 : n] = '\0';
    return strrchr(to, '/') ? strrchr(to, '/') + 1 : to;
}

static const char *name_of(const char *device)
{
    return strchr(device, '/') + 1;
}

static const char *type_of(const char *device)
{
    int type = atoi(shown(device, "type"));

    return type == ARPHRD_ETHER ? "Ethernet" : type == ARPHRD_INFINIBAND ? "InfiniBand" : "other";
}

static const char *bus_of(const char *device)
{
    return shown_link(device, "device/subsystem");
}

static const char *driver_of(const char *device)
{
    return shown_link(device, "device/driver");
}

static const char *place_of(const char *device)
{
    return strcmp(bus_of(device), "pci") ? "" : shown_link(device, "device");
}

static const char *vendor_number(const char *device)
{
    return shown(device, "device/vendor");
}

/* Of those that this test knows; NULL: another, of any name. */
static const char *vendor_name(const char *device)
{
    const char *number = vendor_number(device);

    return !*number                    ? ""
           : !strcmp(number, "0x8086") ? "Intel"
           : !strcmp(number, "0x1af4") ? "Red Hat"
                                       : NULL;
}

static const char *address_of(const char *device)
{
    return shown(device, "address");
}

static const char *index_of(const char *device)
{
    return shown(device, "ifindex");
}

static const char *frame_of(const char *device)
{
    return shown(device, "mtu");
}

static const char *speed_in(uint64_t bits)
{
    static char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)bits);
    return bits ? text : "";
}

/* In Mb/s; below 0: not known. */
static const char *speed_of(const char *device)
{
    long speed = atol(shown(device, "speed"));

    return speed_in(speed < 0 ? 0 : (uint64_t)speed * 1000000);
}

static const char *state_of(const char *device)
{
    const char *state = shown(device, "operstate");

    return !strcmp(state, "up")                                         ? "up"
           : !strcmp(state, "down") || !strcmp(state, "lowerlayerdown") ? "down"
                                                                        : "unknown";
}

static const char *type_of_adapter(const char *device)
{
    return shown(device, "ports/1/link_layer");
}

static const char *address_of_adapter(const char *device)
{
    return shown(device, "node_guid");
}

static const char *firmware_of_adapter(const char *device)
{
    return shown(device, "fw_ver");
}

/* "100 Gb/sec (4X EDR)" */
static const char *speed_of_adapter(const char *device)
{
    return speed_in((uint64_t)(strtod(shown(device, "ports/1/rate"), NULL) * 1e9));
}

/* "4: ACTIVE" */
static const char *state_of_adapter(const char *device)
{
    int state = atoi(shown(device, "ports/1/state"));

    return state == 4 ? "up" : state == 1 ? "down" : "unknown";
}

/* ---- each of them ---- */

static bool is_device(const char *device)
{
    const char *type = shown(device, "type");

    return strncmp(device, "net/", 4) != 0 || (*type && atoi(type) != ARPHRD_LOOPBACK);
}

/* Of a class: net or infiniband.  Returns how many there are. */
static uint32_t each_device(const char *class, void (*fn)(const char *device))
{
    char path[512], device[512];
    DIR *folder;
    uint32_t n = 0;

    snprintf(path, sizeof path, "%s/class/%s", sys, class);
    folder = opendir(path);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        snprintf(device, sizeof device, "%s/%s", class, e->d_name);
        if (*e->d_name == '.' || !is_device(device))
            continue;
        if (fn)
            fn(device);
        n++;
    }
    if (folder)
        closedir(folder);
    return n;
}

#endif
