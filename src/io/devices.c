/* devices.c - see devices.h.  What cannot be read is not known; a device may go at any time. */
#include "io/devices.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first line of a file of a device, or an empty text. */
static void read_line(int device, const char *file, char *text, size_t room)
{
    int fd = openat(device, file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);

    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

static uint64_t read_number(int device, const char *file)
{
    char text[32];

    read_line(device, file, text, sizeof text);
    return *text == '-' ? 0 : strtoull(text, NULL, 10); /* -1: the driver does not know */
}

/* The last part of where a link leads. */
static void read_link(int device, const char *link, char *text, size_t room)
{
    char path[512];
    ssize_t n = readlinkat(device, link, path, sizeof path - 1);
    const char *last;

    path[n < 0 ? 0 : n] = '\0';
    last = strrchr(path, '/');
    snprintf(text, room, "%.*s", (int)room - 1, last ? last + 1 : path);
}

static void read_hardware(int device, struct net_device *d)
{
    read_link(device, "device/subsystem", d->bus, sizeof d->bus);
    read_link(device, "device/driver", d->driver, sizeof d->driver);
    read_line(device, "device/vendor", d->vendor, sizeof d->vendor);
    if (!strcmp(d->bus, "pci"))
        read_link(device, "device", d->pci, sizeof d->pci);
}

/* ---- Ethernet and the like ---- */

static enum net_link link_of(const char *state)
{
    if (!strcmp(state, "up"))
        return NET_LINK_UP;
    return !strcmp(state, "down") || !strcmp(state, "lowerlayerdown") ? NET_LINK_DOWN
                                                                      : NET_LINK_UNKNOWN;
}

static bool read_interface(int device, struct net_device *d)
{
    uint64_t type = read_number(device, "type");
    char state[32];

    if (type == ARPHRD_LOOPBACK)
        return false;
    snprintf(d->type, sizeof d->type, "%s",
             type == ARPHRD_ETHER        ? "Ethernet"
             : type == ARPHRD_INFINIBAND ? "InfiniBand"
                                         : "other");
    read_line(device, "address", d->address, sizeof d->address);
    read_line(device, "operstate", state, sizeof state);
    d->link = link_of(state);
    d->index = (uint32_t)read_number(device, "ifindex");
    d->mtu = read_number(device, "mtu");
    d->speed = read_number(device, "speed") * 1000000;
    return true;
}

/* ---- InfiniBand ---- */

/* The first port: "4: ACTIVE", "100 Gb/sec (4X EDR)". */
static bool read_adapter(int device, struct net_device *d)
{
    char text[64];

    read_line(device, "ports/1/link_layer", d->type, sizeof d->type);
    read_line(device, "node_guid", d->address, sizeof d->address);
    read_line(device, "fw_ver", d->firmware, sizeof d->firmware);
    read_line(device, "ports/1/state", text, sizeof text);
    d->link = *text == '4' ? NET_LINK_UP : *text == '1' ? NET_LINK_DOWN : NET_LINK_UNKNOWN;
    read_line(device, "ports/1/rate", text, sizeof text);
    d->speed = (uint64_t)(strtod(text, NULL) * 1e9);
    return true;
}

/* ---- all ---- */

typedef bool device_reader(int device, struct net_device *d);

static void read_device(int folder, const char *name, device_reader *reader, net_device_fn *fn,
                        void *arg)
{
    struct net_device d = { .name = name };
    int device = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (device < 0)
        return;
    read_hardware(device, &d);
    if (reader(device, &d))
        fn(arg, &d);
    close(device);
}

static int read_class(const char *sys, const char *class, device_reader *reader, net_device_fn *fn,
                      void *arg)
{
    char path[512];
    DIR *folder;

    snprintf(path, sizeof path, "%s/class/%s", sys, class);
    folder = opendir(path);
    if (!folder)
        return -errno;
    for (struct dirent *e; (e = readdir(folder));) {
        if (*e->d_name != '.')
            read_device(dirfd(folder), e->d_name, reader, fn, arg);
    }
    closedir(folder);
    return 0;
}

int devices_below(const char *sys, net_device_fn *fn, void *arg)
{
    int rc = read_class(sys, "net", read_interface, fn, arg);
    int more = read_class(sys, "infiniband", read_adapter, fn, arg);

    return rc < 0 && more < 0 ? rc : 0;
}

int devices_of_node(net_device_fn *fn, void *arg)
{
    return devices_below("/sys", fn, arg);
}
