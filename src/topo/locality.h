/* locality.h - where bound processes of this machine are, in the words of PMIx.
 *
 * Pure: the machine is a struct topo_view.
 */
#ifndef WIREUP_TOPO_LOCALITY_H
#define WIREUP_TOPO_LOCALITY_H

#include "core/job_map.h"
#include "topo/bind.h"

/* The place of each seat, from the arena: the processors, and (view NULL: not) the objects that
 * have one of them, as "SK0:L30-1:L20:L10:CR0:HT0:NM0", by their logical numbers.  NULL: no memory.
 * The place of a seat without processors is zeroed. */
struct job_map_place *locality_places(struct arena *a, const struct topo_view *view,
                                      const struct bind_seats *seats);

/* The number of the package that has one of the processors; the first of several, 0 for none. */
uint32_t locality_package(const struct topo_view *view, struct cpus set);

#endif
