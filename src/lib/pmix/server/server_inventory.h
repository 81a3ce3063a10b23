/* server_inventory.h - what the nodes have: each node tells it by PMIx_server_collect_inventory,
 * and the host carries it to the server that is to know it, which keeps it
 * (PMIx_server_deliver_inventory).
 *
 * A node's inventory is one info, PMIX_NODE_INFO_ARRAY: PMIX_HOSTNAME; PMIX_HWLOC_XML_V2, its
 * topology; and PMIX_FABRIC_DEVICES, the network devices in it, each an array PMIX_FABRIC_DEVICE of
 * PMIX_DEVICE_ID and PMIX_FABRIC_DEVICE_NAME.  Queries for topologies are answered from it, unless
 * the host answers queries. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_INVENTORY_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_INVENTORY_H

#include "lib/pmix/server/server.h"
#include "server/info_array.h"

/* Appends this node's. */
void inventory_describe(struct info_array *l, const char *hostname);

/* Keeps that of a node; the last one holds.  An info of another library's making is passed over.
 * False: no memory. */
bool inventory_keep(struct pserver *s, const pmix_info_t *i);

/* Answers a client's question for topologies (server/node_part.h): its own node's comes first. */
enum answer_status inventory_answer(struct pserver *s, const struct request *rq, uint64_t ticket);

/* Whether the attribute is the topology that all clients are to have
 * (PMIX_SERVER_SHARE_TOPOLOGY); the answer is this node's. */
bool inventory_share(struct pserver *s, struct slice key, struct answer *a_p);

#endif
