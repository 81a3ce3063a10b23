/* server_map.h - the job map of a namespace, from the infos that the host has registered.
 *
 * A host registers a job in several dialects: maps as short texts, arrays for nodes, applications
 * and processes, loose keys about its own node.
 */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_MAP_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_MAP_H

#include "core/job_map.h"
#include "lib/pmix/api/regex.h"
#include "lib/pmix/server/server.h"
#include "lib/pmix/server/server_space.h"

enum { SMAP_NOWHERE = UINT32_MAX };

/* A job map under construction: zeroed but for s, n, here (SMAP_NOWHERE) and the plan. */
struct smap {
    struct pserver *s;
    struct nspace *n;
    struct job_map plan;
    uint32_t size;
    bool has_size;
    struct regex_nodes nodes;
    struct regex_ranks ranks;
    const char **names; /* of nodes */
    uint32_t nnodes, names_room;
    uint32_t *node_of, *app_of; /* by rank; SMAP_NOWHERE */
    uint32_t napps;
    uint32_t here; /* SMAP_NOWHERE: not known */
    uint32_t universe;
};

/* Sizes, nodes and places, as far as they are registered.  False: no memory, or too large. */
bool smap_place(struct smap *b);

/* Places the rest: here, if all processes are here; else on a node without a name. */
void smap_place_rest(struct smap *b);

/* Makes the plan of it; every process has a place.  False: no memory. */
bool smap_fill(struct smap *b);

#endif
