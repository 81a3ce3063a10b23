/* pmix_topo.h - topologies, cpusets and localities as PMIx knows them, on hwloc.
 *
 * The library hwloc and this machine's topology are found once per process, when first needed, and
 * kept: both are facts of the machine, and finding them takes milliseconds.  Everything handed out
 * is the caller's own copy, to be released by PMIx_Topology_destruct and PMIx_Cpuset_destruct.
 *
 * All functions may be called from any thread.
 */
#ifndef WIREUP_TOPO_PMIX_TOPO_H
#define WIREUP_TOPO_PMIX_TOPO_H

#include "wire/pmix_types.h"

/* What the codec needs of hwloc. */
extern const struct ptype_foreign ptopo_foreign;

enum {
    PTOPO_MISSING = 1, /* no hwloc, or it cannot make sense of this machine */
    PTOPO_OTHER,       /* says that it comes from another library than hwloc */
    PTOPO_MALFORMED,   /* no such text; a cpuset without a bitmap */
    PTOPO_NOTHING,     /* nothing of that kind here */
};

/* All: 0, one of the above, or -ENOMEM. */

/* This machine's topology, devices included, unless the topology names another source. */
int ptopo_load(pmix_topology_t *topo);

/* "hwloc:0-3,8"; a version may stand between ("hwloc:2.9.0:0-3"). */
int ptopo_cpuset_parse(const char *text, pmix_cpuset_t *set_p);
int ptopo_cpuset_text(const pmix_cpuset_t *set, char **text_p);

/* Where the processors of a set are on this machine: "SK0:L30-1:L20:L10:CR0:HT0:NM0", numbers by
 * hwloc's logical order.  NULL for a set without any of its processors. */
int ptopo_locality_text(const pmix_cpuset_t *set, char **text_p);

/* To what the process, or the calling thread, is bound. */
int ptopo_bound(bool thread, pmix_cpuset_t *set_p);

/* Which devices are asked for. */
struct ptopo_wanted {
    pmix_device_type_t types; /* 0: all */
    const char **ids;         /* their uuid or name; */
    size_t nids;              /* 0: all */
};

/* The devices of a topology and how far they are from the processors of a set: by the depth of what
 * both share, smaller is nearer; malloc'ed. */
int ptopo_distances(const pmix_topology_t *topo, const pmix_cpuset_t *set,
                    const struct ptopo_wanted *wanted, pmix_device_distance_t **list_p,
                    size_t *n_p);

/* What two locality texts of one node have in common; without hwloc.  0 or PTOPO_MALFORMED. */
int ptopo_shared(const char *a, const char *b, pmix_locality_t *shared_p);

#endif
