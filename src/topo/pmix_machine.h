/* pmix_machine.h - shared by the files that implement pmix_topo.h. */
#ifndef WIREUP_TOPO_PMIX_MACHINE_H
#define WIREUP_TOPO_PMIX_MACHINE_H

#include "topo/hwloc_dl.h"
#include "wire/pmix_types.h"

/* The library, or NULL when there is none; opened once. */
const struct hwloc_dl *ptopo_hwloc(void);

/* This machine's topology, or NULL; loaded once, and never changed. */
hwloc_topology_t ptopo_machine(const struct hwloc_dl *h);

/* Whether this source is hwloc; versions after the name are ignored. */
bool ptopo_is_hwloc(const char *source);

/* Topologies for the codec: see struct ptype_foreign. */
size_t ptopo_support_size(void);
int ptopo_wire_text(const pmix_topology_t *topo, char **xml_p, void *support_p);
int ptopo_wire_parse(const char *xml, const void *support, pmix_topology_t *topo_p);
int ptopo_copy(const pmix_topology_t *from, pmix_topology_t *to_p);
void ptopo_free(pmix_topology_t *topo);

#endif
