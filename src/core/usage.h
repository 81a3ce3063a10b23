/* usage.h - the usage of a node's resources: what a host reads from its machine for the servers,
 * which cannot (io/usage.h). */
#ifndef WIREUP_CORE_USAGE_H
#define WIREUP_CORE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* Sizes are bytes, times of samples seconds since 1970. */
struct proc_usage {
    int64_t time_s;
    uint64_t cpu_us; /* user and system time */
    float percent_cpu;
    int32_t priority;
    uint16_t threads, cpu;
    uint64_t vsize, peak_vsize, rss;
    uint64_t unshared; /* resident memory that is not shared with others */
    char state[2];     /* R, S, D, T ..., as text */
};

struct node_usage {
    int64_t time_s;
    float load_1, load_5, load_15;
    uint64_t mem_total, mem_free, mem_buffers, mem_cached, mem_mapped;
    uint64_t swap_total, swap_free, swap_cached;
    uint64_t daemon; /* unshared memory of the process itself */
};

/* A mounted file system that keeps files; texts are borrowed. */
struct storage_usage {
    const char *source, *path, *type;
    char version[16]; /* by which the node speaks with its server; empty: not known */
    bool is_shared;   /* with other nodes */
    bool in_memory;
    bool is_read_only;
    bool is_measured; /* the following numbers are known */
    uint64_t capacity, used, objects, objects_used, block, fragment;
};

typedef void storage_fn(void *arg, const struct storage_usage *u);

enum net_link { NET_LINK_UNKNOWN, NET_LINK_DOWN, NET_LINK_UP };

/* A network device; a text that is empty, and a number that is 0, is not known. */
struct net_device {
    const char *name;
    char type[32], bus[32], driver[64], firmware[64];
    char vendor[32], pci[32]; /* its number, and the place on the bus, as the kernel writes them */
    char address[64];
    uint32_t index;
    uint64_t mtu, speed; /* bytes; bits per second */
    enum net_link link;
};

typedef void net_device_fn(void *arg, const struct net_device *d);

/* How a host reads its machine.  The functions return 0, or -errno. */
struct machine {
    const char *name; /* of the node */
    int (*proc)(int pid, struct proc_usage *u_p);
    int (*node)(struct node_usage *u_p);
    int (*storages)(storage_fn *fn, void *arg); /* each of them */
    int (*devices)(net_device_fn *fn, void *arg);
    struct slice (*topology)(void *arg); /* hwloc's XML; empty: it is not known */
    void *topology_arg;
    /* The same in the form of hwloc 1; NULL: not known.  Freed by the caller. */
    char *(*topology_v1)(void *arg);
};

#endif
