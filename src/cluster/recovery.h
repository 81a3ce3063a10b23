/* recovery.h - one outcome for an exchange of which a participant is lost.
 *
 * A lost node may have sent its data to some participants and not to others, and a participant does
 * not know who has all.  One that is stuck asks the top, which announces a round.  At the
 * announcement, which reaches all nodes in the order of losses and other broadcasts, each
 * participant states whether it has completed the exchange; one that has not completes nothing
 * until the round is over.  The round is a collective itself, by the tree, which bears losses: so
 * all that live get the same answers.  If one has completed, the others fetch the data from it; if
 * none has, it has failed for all.  When those that had completed are lost before the others have
 * fetched, another round follows.  Without a loss none of this is sent.
 */
#ifndef WIREUP_CLUSTER_RECOVERY_H
#define WIREUP_CLUSTER_RECOVERY_H

#include "cluster/overlay.h"

/* Handles an event of the overlay that is about recoveries; it can cause messages and events.
 * False: it is not. */
bool recovery_event(struct overlay *o, const struct overlay_event *e);

#endif
