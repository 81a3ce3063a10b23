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

/* Events about the nodes of the DVM in which the job runs, or whose tool this is, for
 * PMIx_Register_event_handler(); only handlers for the very code are called.  (pmix_common.h comes
 * before this file.)  Each has PMIX_HOSTNAME, and PMIX_NUM_SLOTS, a uint32_t.
 *
 * JOINED: the node takes jobs, and jobs may spawn there (one of `wireup run` if it names the node, or
 * has -all-nodes).  LEAVES: it gets no new jobs, and leaves when its processes have
 * ended; PMIX_EVENT_AFFECTED_PROCS has those of them that the launcher of the job knows.  STAYS: it
 * was to leave, and takes jobs again.  LEFT: it has left.  Who registers later is not told.  (A
 * node that is lost: PMIX_EVENT_NODE_DOWN.) */
#define WIREUP_EVENT_NODE_JOINED (PMIX_EXTERNAL_ERR_BASE - 1)
#define WIREUP_EVENT_NODE_LEAVES (PMIX_EXTERNAL_ERR_BASE - 2)
#define WIREUP_EVENT_NODE_STAYS  (PMIX_EXTERNAL_ERR_BASE - 3)
#define WIREUP_EVENT_NODE_LEFT   (PMIX_EXTERNAL_ERR_BASE - 4)

#endif
