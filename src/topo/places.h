/* places.h - which object of a kind each process of a node is on.
 *
 * A process is on the object that contains its processors.  If they belong to several (it is bound
 * to more than one, or not bound), it is on the one of them that has the fewest earlier processes.
 *
 * Pure.
 */
#ifndef WIREUP_TOPO_PLACES_H
#define WIREUP_TOPO_PLACES_H

#include "topo/bind.h"

/* place: the logical number of the object, for n processes in the order of the mapping; processes
 * without an object get 0.  seats: the processors that they are bound to or mapped on; count 0:
 * all. 0, or -ENOMEM. */
int places_find(const struct topo_objects *objects, struct cpus allowed,
                const struct bind_seats *seats, uint32_t n, uint32_t *place);

#endif
