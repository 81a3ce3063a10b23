/* clique.h - the ranks on this process's node, from the job's process mapping. */
#ifndef WIREUP_LIB_PMI_CLIQUE_H
#define WIREUP_LIB_PMI_CLIQUE_H

#include "lib/pmi/client.h"

/* An array for free(), in ascending order; only this process when the mapping is unknown or
 * invalid.  0, CLIENT_FAILED, -ENOMEM. */
int clique_ranks(struct pmi1_client *c, int **ranks_p, uint32_t *count_p, struct errmsg *err);

#endif
