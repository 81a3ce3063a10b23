/* places.h - which object of a kind each process of a node is on.
 *
 * A process is on the object that has its processors.  Where these are of several (it is bound to
 * more, or to nothing), it is on the one of them that the fewest of those before it are on.
 *
 * Pure.
 */
#ifndef WIREUP_TOPO_PLACES_H
#define WIREUP_TOPO_PLACES_H

#include "topo/bind.h"

/* place: the logical number of the object, for n processes in the order of the mapping; those
 * without any get 0.  seats: what they are bound to or mapped on; count 0: to all there is.
 * 0, or -ENOMEM. */
int places_find(const struct topo_objects *objects, struct cpus allowed,
                const struct bind_seats *seats, uint32_t n, uint32_t *place);

#endif
