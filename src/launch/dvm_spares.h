/* dvm_spares.h - spare nodes of a DVM (`wireup up -spare-hosts LIST`): each node that is lost is
 * replaced by the next one, which joins the DVM as by `wireup grow`.
 *
 * A node that was asked to leave is not lost.  A spare node that does not come up is left out.
 */
#ifndef WIREUP_LAUNCH_DVM_SPARES_H
#define WIREUP_LAUNCH_DVM_SPARES_H

#include "daemon/dvm_growth.h"
#include "launch/dvm_members.h"

struct dvm_spares {
    const struct dvm_members *members; /* NULL: there are none */
    const struct cluster_io *cluster;
    struct dvm_growths growths;
    struct slice rest; /* of the list */
    bool *replaced;    /* by position */
};

/* list NULL: there are none.  0 or -ENOMEM. */
int dvm_spares_open(struct dvm_spares *s, const char *list, const struct dvm_members *members,
                    const struct cluster_io *cluster);
void dvm_spares_close(struct dvm_spares *s); /* harmless twice, and on zeroed memory */

/* Nodes may have been lost. */
void dvm_spares_changed(struct dvm_spares *s);

#endif
