/* devices_test.c - network devices, of this machine and of one that is made up. */
#include "io/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

#define STR(is, want) OK_F(!strcmp((is), (want)), "%s is %s", (is), (want))

static char folder[] = "/tmp/wu-devices.XXXXXX";

static void make(const char *path, const char *text)
{
    char full[256];
    FILE *f;

    snprintf(full, sizeof full, "%s/%s", folder, path);
    for (char *at = full + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    if (!strncmp(text, "->", 2)) {
        EQ(symlink(text + 2, full), 0);
        return;
    }
    f = fopen(full, "w");
    EQ(f && fputs(text, f) >= 0 && fclose(f) == 0, 1);
}

struct seen {
    unsigned n, wrong;
};

static void check(void *arg, const struct net_device *d)
{
    struct seen *s = arg;

    s->n++;
    if (!strcmp(d->name, "eth7")) {
        STR(d->type, "Ethernet");
        STR(d->bus, "pci");
        STR(d->pci, "0000:03:00.1");
        STR(d->driver, "ice");
        STR(d->vendor, "0x8086");
        STR(d->address, "02:00:00:00:00:07");
        OK(d->index == 7 && d->mtu == 9000 && d->speed == 25000000000 && d->link == NET_LINK_UP);
    } else if (!strcmp(d->name, "veth0")) {
        OK(d->speed == 0 && d->link == NET_LINK_DOWN && !*d->bus && !*d->driver && !*d->pci);
    } else {
        STR(d->name, "mlx5_0");
        STR(d->type, "InfiniBand");
        STR(d->firmware, "20.31.1014");
        OK(d->speed == 200000000000 && d->link == NET_LINK_UP && d->index == 0);
    }
}

static void test_made_up(void)
{
    static const char *const files[][2] = {
        { "bus/pci/drivers/ice/x", "" },
        { "devices/0000:03:00.1/vendor", "0x8086\n" },
        { "devices/0000:03:00.1/subsystem", "->../../bus/pci" },
        { "devices/0000:03:00.1/driver", "->../../bus/pci/drivers/ice" },
        { "class/net/eth7/device", "->../../../devices/0000:03:00.1" },
        { "class/net/eth7/type", "1\n" },
        { "class/net/eth7/address", "02:00:00:00:00:07\n" },
        { "class/net/eth7/operstate", "up\n" },
        { "class/net/eth7/ifindex", "7\n" },
        { "class/net/eth7/mtu", "9000\n" },
        { "class/net/eth7/speed", "25000\n" },
        { "class/net/lo/type", "772\n" },
        { "class/net/veth0/type", "1\n" },
        { "class/net/veth0/speed", "-1\n" },
        { "class/net/veth0/operstate", "down\n" },
        { "class/infiniband/mlx5_0/fw_ver", "20.31.1014\n" },
        { "class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n" },
        { "class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n" },
        { "class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)\n" },
    };
    struct seen s = { 0, 0 };
    char command[64];

    OK(mkdtemp(folder));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        make(files[i][0], files[i][1]);
    EQ(devices_below(folder, check, &s), 0);
    EQ(s.n, 3);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    EQ(system(command), 0);
    OK(devices_below(folder, check, &s) < 0);
}

static void find(void *arg, const struct net_device *d)
{
    struct seen *s = arg;

    s->n++;
    s->wrong += !*d->name || !strcmp(d->name, "lo");
}

static void test_this_machine(void)
{
    struct seen s = { 0, 0 };

    OK(devices_of_node(find, &s) == 0 || s.n == 0);
    EQ(s.wrong, 0);
}

int main(void)
{
    test_made_up();
    test_this_machine();
    return tap_done();
}
