/* pmix_topo.h - topologies, cpusets and localities of PMIx, implemented on hwloc.
 *
 * The hwloc library and this machine's topology are loaded once per process, on first use, and
 * kept: both never change, and loading them takes milliseconds.  Everything returned is the
 * caller's own copy, to be released by PMIx_Topology_destruct and PMIx_Cpuset_destruct.
 *
 * All functions may be called from any thread.
 */
#ifndef WIREUP_TOPO_PMIX_TOPO_H
#define WIREUP_TOPO_PMIX_TOPO_H

#include "wire/pmix_types.h"

/* The functions of hwloc that the codec needs. */
extern const struct ptype_foreign ptopo_foreign;

enum {
    PTOPO_MISSING = 1, /* no hwloc, or it cannot read this machine */
    PTOPO_OTHER,       /* its source is another library than hwloc */
    PTOPO_MALFORMED,   /* malformed text; a cpuset without a bitmap */
    PTOPO_NOTHING,     /* nothing of that kind here */
};

/* All: 0, one of the above, or -ENOMEM. */

/* This machine's topology, devices included, unless the topology names another source. */
int ptopo_load(pmix_topology_t *topo);

/* "hwloc:0-3,8"; with an optional version ("hwloc:2.9.0:0-3"). */
int ptopo_cpuset_parse(const char *text, pmix_cpuset_t *set_p);
int ptopo_cpuset_text(const pmix_cpuset_t *set, char **text_p);

/* The location of the processors of a set on this machine: "SK0:L30-1:L20:L10:CR0:HT0:NM0", numbers
 * by hwloc's logical order.  NULL for a set without any of its processors. */
int ptopo_locality_text(const pmix_cpuset_t *set, char **text_p);

/* The binding of the process, or of the calling thread. */
int ptopo_bound(bool thread, pmix_cpuset_t *set_p);

/* The requested devices. */
struct ptopo_wanted {
    pmix_device_type_t types; /* 0: all */
    const char **ids;         /* their uuid or name; */
    size_t nids;              /* 0: all */
};

/* The devices of a topology and their distances from the processors of a set: by the depth of their
 * common ancestor, smaller is nearer; malloc'ed. */
int ptopo_distances(const pmix_topology_t *topo, const pmix_cpuset_t *set,
                    const struct ptopo_wanted *wanted, pmix_device_distance_t **list_p,
                    size_t *n_p);

/* The common levels of two locality texts of one node; needs no hwloc.  0 or PTOPO_MALFORMED. */
int ptopo_shared(const char *a, const char *b, pmix_locality_t *shared_p);

#endif
