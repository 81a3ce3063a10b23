/* contribution_places.h - the nodes that take part in a collective, from the participants that a
 * contribution names. */
#ifndef WIREUP_CORE_CONTRIBUTION_PLACES_H
#define WIREUP_CORE_CONTRIBUTION_PLACES_H

#include "core/contribution.h"
#include "core/core.h"

/* Each node once, ascending by job and node: malloc'ed; 0 or -ENOMEM.  An unknown job is left out.
 */
int contribution_places(const struct core *c, const struct contribution *k, struct place **places_p,
                        uint32_t *n_p);

#endif
