/* node_part.h - what one node knows for queries: the states of its processes, what they and the
 * node use, its storage, its network devices, the groups of its processes.
 *
 * The parts of all nodes follow each other in one answer (REQ_node_parts); each is a list of infos
 * in Wireup's own encoding, with one info for each table of processes, process, node, storage,
 * device and group.  What is in it is trusted no more than a client's message.
 */
#ifndef WIREUP_SERVER_NODE_PART_H
#define WIREUP_SERVER_NODE_PART_H

#include "base/buf.h"
#include "base/slice.h"
#include "server/info_array.h"

struct machine;
struct reservations;
struct server;

enum {
    NODE_PART_PROCS = 1,
    NODE_PART_USAGE = 2, /* of the processes */
    NODE_PART_NODE = 4,
    NODE_PART_STORAGE = 8,
    NODE_PART_GROUPS = 16,
    NODE_PART_TOPOLOGY = 32,     /* of its hardware, as hwloc's XML */
    NODE_PART_DEVICES = 64,      /* of networks */
    NODE_PART_ALLOCATIONS = 128, /* the launcher's */
    NODE_PART_TOPOLOGY_V1 = 256, /* likewise for hwloc 1, besides */
    NODE_PART_QUEUES = 512,      /* of the resource manager, as the node asked knows them */
    NODE_PART_MEMBERS = 1024     /* the launcher's: all its nodes, and what is free on them */
};

/* The keys of its infos; the value of each is an array of infos, and that of a table of
 * pmix_proc_info_t. */
#define NODE_PART_OF_PROCS      PMIX_QUERY_PROC_TABLE
#define NODE_PART_OF_PROC       PMIX_PROC_RESOURCE_USAGE
#define NODE_PART_OF_NODE       PMIX_NODE_RESOURCE_USAGE
#define NODE_PART_OF_STORAGE    PMIX_STORAGE_ID
#define NODE_PART_OF_GROUP      PMIX_GROUP_ID
#define NODE_PART_OF_HARDWARE   PMIX_HWLOC_XML_V2
#define NODE_PART_OF_DEVICE     PMIX_FABRIC_DEVICE
#define NODE_PART_OF_ALLOCATION PMIX_ALLOC_ID
#define NODE_PART_OF_QUEUE      PMIX_ALLOC_QUEUE
#define NODE_PART_OF_MEMBER     PMIX_NODE_INFO_ARRAY

/* In the info of a process: its memory that is not shared, in megabytes. */
#define NODE_PART_UNSHARED PMIX_CLIENT_AVG_MEMORY

/* Appends this node's part.  Running out of memory poisons the buffer. */
void node_part_write(const struct server *s, uint32_t parts, const struct machine *m,
                     struct buf *out);

/* Appends the reservations of the launcher, as a part of its own. */
void node_part_write_allocations(const struct server *s, const struct reservations *r,
                                 uint64_t now_ns, struct buf *out);

/* Appends the launcher's nodes, as a part of their own: PMIX_HOSTNAME, PMIX_NUM_SLOTS and
 * PMIX_QUERY_AVAILABLE_SLOTS of each. */
struct node_part_member {
    const char *name;
    uint32_t slots, free;
};
void node_part_write_members(const struct node_part_member *all, uint32_t n, struct buf *out);

/* Appends queues, from lines `NAME STATE`, as a part of their own: PMIX_ALLOC_QUEUE and
 * PMIX_QUERY_QUEUE_STATUS of each. */
void node_part_write_queues(struct slice lines, struct buf *out);

#endif
