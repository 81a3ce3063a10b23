/* wireup_client.h - names of what Wireup's server tells a PMIx process besides the Standard.  Other
 * servers report them as not found. */
#ifndef WIREUP_CLIENT_H
#define WIREUP_CLIENT_H

/* A key of PMIx_Query_info: the signals that `wireup` passes on to the processes of the job, as a
 * string ("SIGINT,SIGTERM,..."); PMIX_NSPACE is a qualifier.  (PMI-1: a get of
 * PMI_signals_forwarded; PMI-2: the job attribute of that name.)  Not found where nothing is passed
 * on: under another resource manager, or under `wireup serve`. */
#define WIREUP_QUERY_SIGNALS "wireup.qry.signals"

/* An attribute of PMIx_Spawn, and a key of the job's information (PMIX_RANK_WILDCARD), where one
 * was given: which of its processes will talk to each other, as the option -connectivity of
 * `wireup` tells it: "ring", "hypercube", "cartesian:AxBxC", "sparse" or "all", a string.  A fence
 * of the whole job then brings to each node only the values of its processes' neighbours; a get of
 * another value fetches it.  (PMI: the info key "connectivity" of a spawn; the attribute
 * PMI_connectivity.) */
#define WIREUP_CONNECTIVITY "wireup.connectivity"

/* An attribute of PMIx_Get, a string: which values come along when the value has to be fetched from
 * another node, because of the connectivity: "proc", those of its process (so it is without a
 * hint); "node", those of all processes on the node of that; "app", those of all processes of its
 * application, on all nodes; "job", all.  Gets of these values are then answered at once.  (PMI: a
 * get of the key "PMI_fetch_node:RANK", or with proc, app or job in the place of node.) */
#define WIREUP_PREFETCH "wireup.prefetch"

#endif
