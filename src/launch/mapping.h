/* mapping.h - which rank runs where: ranks distributed over nodes and their slots.
 *
 * By slot (the default): each node's slots are filled in the order of the list, and when all are
 * taken the distribution starts again at the first node.  By node: one rank to each node in turn,
 * as long as it has a free slot; then again.  ppr:N:OBJECT: N ranks for each OBJECT of each node,
 * no more.  OBJECT:span: as many ranks to each node in turn as it has objects.  -ppn N means N
 * slots on every node.  seq: the slots in the order of the list, one for each rank, and no more
 * ranks than slots.  A rank map or a rank file names the node of every rank. Ranks of one block are
 * consecutive; blocks that share a node list continue where the previous one stopped.  A block that
 * is distributed in another way than the one before begins with the slots of its list that are
 * free; ppr and seq count only the ranks of blocks that are distributed in the same way.
 *
 * Two entries of the same name are one node (its ranks share memory), however far apart they are.
 *
 * Pure: linear in ranks and list entries; memory from the plan's arena.
 */
#ifndef WIREUP_LAUNCH_MAPPING_H
#define WIREUP_LAUNCH_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/job_map.h"
#include "topo/kind.h"
#include "launch/hosts.h"

enum mapping_how { MAP_BY_SLOT = 0, MAP_BY_NODE, MAP_PPR, MAP_SEQ, MAP_RANKFILE };
enum mapping_over { OVER_UNSAID = 0, OVER_YES, OVER_NO };

/* The parsed value of `-map-by`. */
struct mapping_spec {
    enum mapping_how how;
    uint32_t ppr;      /* MAP_PPR: ranks for each `object` */
    bool object_given; /* the order in which bindings are dealt out */
    enum topo_kind object;
    uint32_t width; /* objects taken together; 1 by default */
    bool span;   /* all nodes are one: each object gets as many ranks as the others, or one more */
    uint32_t pe; /* :pe=N, cores for each rank; 0: not given */
    enum mapping_over over;
    const char *file; /* seq:file=, rankfile:file=: the rest of the text; or NULL */
};

enum { MAPPING_BAD = 1, MAPPING_CANNOT };

/* NULL text: the default.  0, or MAPPING_BAD with the sentence. */
int mapping_parse(const char *text, struct mapping_spec *spec_p, struct errmsg *err);

/* The ranks of one block, and the nodes they may use. */
struct mapping_block {
    uint32_t nprocs; /* 0: all slots */
    const struct host_list *hosts;
    uint32_t way; /* below mapping_request.nways */
};

/* How the ranks of blocks are distributed. */
struct mapping_way {
    enum mapping_how how;
    enum mapping_over over; /* OVER_NO: slots are a limit; OVER_YES: not even max_slots is one */
    /* MAP_PPR: ranks of a node.  0; a result known to the caller (MAPPING_BAD, MAPPING_CANNOT) with
     * the sentence; -errno.  NULL: per_node. */
    int (*slots_of)(void *arg, const char *node, uint32_t *slots_p, struct errmsg *err);
    /* OBJECT:span: the objects of a node; likewise.  NULL: no span. */
    int (*objects_of)(void *arg, const char *node, uint32_t *objects_p, struct errmsg *err);
    void *arg;
};

struct mapping_request {
    const struct mapping_way *ways;
    uint32_t nways;
    uint32_t per_node;       /* slots of each node, overriding the lists; 0: as in the lists */
    const char *rankmap;     /* or NULL */
    const uint32_t *entries; /* a rank file: the node list entry of each rank; or NULL */
    uint32_t nentries;       /* its ranks, the maximum */
    bool one_node;           /* all names are this machine: one node, called one_node_name */
    const char *one_node_name;
    const struct mapping_block *blocks; /* as many as the plan has apps */
};

/* Fills plan->nodes, ->procs, ->universe (the slots of all nodes, with and without ranks, from the
 * lists, or from per_node and slots_of() if that is more) and the ranks of ->apps (the array
 * exists).  *node_hosts_p: the first list entry of each node, in the arena.  0; MAPPING_BAD or the
 * result of slots_of(), with the sentence; -ENOMEM. */
int mapping_place(struct job_map *plan, const struct mapping_request *req,
                  const struct host *const **node_hosts_p, struct errmsg *err);

#endif
