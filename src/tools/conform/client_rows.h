/* client_rows.h - examines a client: runs it under `wireup`, with a relay for each rank, once for
 * each manner in which a server may speak.
 */
#ifndef WIREUP_TOOLS_CONFORM_CLIENT_ROWS_H
#define WIREUP_TOOLS_CONFORM_CLIENT_ROWS_H

#include "tools/conform/stage.h"
#include "tools/conform/verdicts.h"

/* False: it could not be run at all; err says why. */
bool client_rows(const struct stage_config *c, uint32_t ranks, struct verdicts *v,
                 struct errmsg *err);

#endif
